#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "io/safetensors_header.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

/// A correct file with random tensors; `header_end` receives the offset of its data.
std::string generate_file(std::size_t& header_end) {
  SafetensorsBuilder builder;
  const auto count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    const auto dtype = *rc::gen::element(DType::kF64, DType::kF32, DType::kBF16, DType::kI32,
                                         DType::kI16, DType::kU8);
    const Shape shape = *rc::gen::container<Shape>(*rc::gen::inRange<std::size_t>(0, 4),
                                                   rc::gen::inRange<std::int64_t>(0, 5));
    const auto bytes = static_cast<std::size_t>(num_elements(shape)) * dtype_size(dtype);
    builder.add(fmt::format("t{}", i), dtype_name(dtype), shape,
                std::string(bytes, static_cast<char>('a' + i)));
  }
  const std::string bytes = builder.bytes(*rc::gen::inRange<std::size_t>(0, 8));
  header_end = bytes.rfind('}') + 1;
  return bytes;
}

/// Whether `bytes` are refused, or every entry lies inside them and no two share a byte. Sums are
/// done in a wider type than the code under test uses.
bool refused_or_inside(const std::string& bytes) {
  const auto header = parse_safetensors_header(std::as_bytes(std::span(bytes)), "f");
  if (!header) return header.error().message.starts_with("[safetensors] f: ");
  std::uint64_t data_begin = 0;
  std::memcpy(&data_begin, bytes.data(), sizeof(data_begin));
  std::uint64_t end = data_begin + 8;
  std::set<std::string> names;
  for (const SafetensorsEntry& entry : header->entries) {
    if (entry.begin != end || entry.end < entry.begin || entry.end > bytes.size()) return false;
    if (!names.insert(entry.name).second) return false;
    end = entry.end;
    if (!entry.dtype) continue;
    long double elements = 1;
    for (const std::int64_t dim : entry.shape) elements *= static_cast<long double>(dim);
    const auto size = static_cast<long double>(entry.end - entry.begin);
    if (elements * static_cast<long double>(dtype_size(*entry.dtype)) != size) return false;
  }
  return end == bytes.size();
}

RC_GTEST_PROP(SafetensorsProperty, AnyValidFileIsReadBack, ()) {
  std::size_t header_end = 0;
  const std::string bytes = generate_file(header_end);
  const auto header = parse_safetensors_header(std::as_bytes(std::span(bytes)), "f");
  RC_ASSERT(header.has_value());
  RC_ASSERT(refused_or_inside(bytes));
  for (const SafetensorsEntry& entry : header->entries) {
    const std::string data = bytes.substr(entry.begin, entry.end - entry.begin);
    const auto fill = static_cast<char>('a' + (entry.name[1] - '0'));
    RC_ASSERT(data == std::string(data.size(), fill));
  }
}

RC_GTEST_PROP(SafetensorsProperty, AnyCorruptHeaderByteIsRefusedOrStaysInside, ()) {
  std::size_t header_end = 0;
  const std::string valid = generate_file(header_end);
  const auto value = *rc::gen::arbitrary<char>();
  for (std::size_t at = 0; at < header_end; ++at) {
    std::string corrupt = valid;
    corrupt[at] = value;
    RC_ASSERT(refused_or_inside(corrupt));
  }
}

RC_GTEST_PROP(SafetensorsProperty, AnyTruncationOrExtensionIsRefused, ()) {
  std::size_t header_end = 0;
  const std::string valid = generate_file(header_end);
  for (std::size_t size = 0; size < valid.size(); ++size) {
    const auto cut = valid.substr(0, size);
    RC_ASSERT(!parse_safetensors_header(std::as_bytes(std::span(cut)), "f").has_value());
  }
  const std::string longer = valid + *rc::gen::arbitrary<char>();
  RC_ASSERT(!parse_safetensors_header(std::as_bytes(std::span(longer)), "f").has_value());
}

}  // namespace
}  // namespace lattice
