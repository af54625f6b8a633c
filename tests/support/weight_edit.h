#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/float16.h"
#include "base/result.h"
#include "io/json.h"
#include "support/temp_dir.h"

namespace lattice {

/// Changes a tensor of a safetensors file in place: F32 or BF16, to which the new values are
/// rounded.
inline void edit_weight(const std::filesystem::path& file, const std::string& name,
                        const std::function<void(std::span<float>)>& edit) {
  std::string bytes = read_file(file);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  const auto header = value_or_throw(JsonDocument::parse(
      std::string_view(bytes).substr(sizeof(header_size), header_size), file.string()));
  const Json* entry = header.root().find(name);
  if (entry == nullptr) raise(ErrorCode::kNotFound, "{} holds no {}", file.string(), name);
  const auto offsets = entry->find("data_offsets")->items();
  const auto begin = static_cast<std::size_t>(offsets[0].as_int().value());
  const auto end = static_cast<std::size_t>(offsets[1].as_int().value());
  char* data = bytes.data() + sizeof(header_size) + header_size + begin;
  const bool wide = entry->find("dtype")->as_string() == "F32";
  if (!wide && entry->find("dtype")->as_string() != "BF16") {
    raise(ErrorCode::kUnsupported, "{}: neither F32 nor BF16", name);
  }
  std::vector<float> values((end - begin) / (wide ? sizeof(float) : sizeof(BFloat16)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    BFloat16 narrow{};
    if (wide) std::memcpy(&values[i], data + i * sizeof(float), sizeof(float));
    if (!wide) std::memcpy(&narrow, data + i * sizeof(narrow), sizeof(narrow));
    if (!wide) values[i] = to_float(narrow);
  }
  edit(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BFloat16 narrow = to_bfloat16(values[i]);
    if (wide) std::memcpy(data + i * sizeof(float), &values[i], sizeof(float));
    if (!wide) std::memcpy(data + i * sizeof(narrow), &narrow, sizeof(narrow));
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace lattice
