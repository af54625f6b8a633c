#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/float16.h"
#include "base/result.h"
#include "io/json.h"
#include "support/temp_dir.h"

namespace lattice {

/// Changes the bytes of a tensor of a safetensors file, of which `edit` gets the dtype too.
inline void edit_weight_bytes(
    const std::filesystem::path& file, const std::string& name,
    const std::function<void(std::string_view dtype, std::span<char>)>& edit) {
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
  edit(entry->find("dtype")->as_string().value(),
       std::span(bytes).subspan(sizeof(header_size) + header_size + begin, end - begin));
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Changes a tensor in place: F32 or BF16, to which the new values are rounded.
inline void edit_weight(const std::filesystem::path& file, const std::string& name,
                        const std::function<void(std::span<float>)>& edit) {
  edit_weight_bytes(file, name, [&](std::string_view dtype, std::span<char> bytes) {
    const bool wide = dtype == "F32";
    if (!wide && dtype != "BF16") {
      raise(ErrorCode::kUnsupported, "{}: neither F32 nor BF16", name);
    }
    const std::size_t width = wide ? sizeof(float) : sizeof(BFloat16);
    std::vector<float> values(bytes.size() / width);
    for (std::size_t i = 0; i < values.size(); ++i) {
      BFloat16 narrow{};
      if (wide) std::memcpy(&values[i], &bytes[i * width], width);
      if (!wide) std::memcpy(&narrow, &bytes[i * width], width);
      if (!wide) values[i] = to_float(narrow);
    }
    edit(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const BFloat16 narrow = to_bfloat16(values[i]);
      if (wide) std::memcpy(&bytes[i * width], &values[i], width);
      if (!wide) std::memcpy(&bytes[i * width], &narrow, width);
    }
  });
}

}  // namespace lattice
