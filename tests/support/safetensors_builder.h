#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/float16.h"
#include "tensor/tensor.h"

namespace lattice {

/// The bytes of a safetensors file with this header text and data, right or wrong.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>((std::uint64_t{header.size()} >> (8 * i)) & 0xff));
  }
  bytes += header;
  bytes += data;
  return bytes;
}

/// Builds correct safetensors files for tests, tensor by tensor:
///
///   dir.write("model.safetensors", SafetensorsBuilder().add_f32("w", {2, 2}, values).bytes());
class SafetensorsBuilder {
 public:
  /// Adds a tensor with raw little-endian `data`.
  SafetensorsBuilder& add(std::string_view name, std::string_view dtype, const Shape& shape,
                          std::string_view data) {
    entries_.push_back(fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                                   name, dtype, shape_string(shape), data_.size(),
                                   data_.size() + data.size()));
    data_ += data;
    return *this;
  }

  SafetensorsBuilder& add_f32(std::string_view name, const Shape& shape,
                              std::span<const float> values) {
    return add(name, "F32", shape, as_chars(values));
  }

  /// Stores each value rounded to bfloat16.
  SafetensorsBuilder& add_bf16(std::string_view name, const Shape& shape,
                               std::span<const float> values) {
    std::vector<BFloat16> rounded;
    for (const float value : values) rounded.push_back(to_bfloat16(value));
    return add(name, "BF16", shape, as_chars(std::span<const BFloat16>(rounded)));
  }

  SafetensorsBuilder& metadata(std::string_view key, std::string_view value) {
    entries_.push_back(fmt::format(R"("__metadata__":{{"{}":"{}"}})", key, value));
    return *this;
  }

  /// The file's bytes; `padding` spaces follow the header, which moves the data.
  std::string bytes(std::size_t padding = 0) const {
    return safetensors_bytes(
        fmt::format("{{{}}}{}", fmt::join(entries_, ","), std::string(padding, ' ')), data_);
  }

 private:
  template <typename T>
  static std::string_view as_chars(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }

  std::vector<std::string> entries_;
  std::string data_;
};

}  // namespace lattice
