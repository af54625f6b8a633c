#include <array>
#include <string>
#include <vector>

#include "fuzz_support.h"
#include "io/safetensors.h"

namespace lattice {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

/// Opens the bytes as a file; if that succeeds, every tensor must be readable to its last byte and
/// all of them together must be the file's data.
void open_and_read(std::string_view bytes) {
  const MemoryFile content(bytes);
  const auto file = SafetensorsFile::open(content.path());
  if (!file) {
    fuzz_check(file.error().message.starts_with("[safetensors] /proc/self/fd/"));
    return;
  }
  fuzz_check(file->data_bytes() <= bytes.size() - 8);
  std::uint64_t total = 0;
  bool all_known = true;
  for (const std::string& name : file->names()) {
    fuzz_check(file->contains(name));
    const auto tensor = file->require(name);
    if (!tensor) {
      fuzz_check(tensor.error().code == ErrorCode::kUnsupported);
      all_known = false;
      continue;
    }
    total += tensor->num_bytes();
    fuzz_touch(tensor->bytes().data(), tensor->num_bytes());
    if (is_float(tensor->dtype())) {
      std::vector<float> values(static_cast<std::size_t>(tensor->num_elements()));
      tensor->copy_to_f32(0, values);
    }
    tensor->discard();
  }
  fuzz_check(!all_known || total == file->data_bytes());
}

/// The input with its header length made to end at the last '}', so that mutations of the header
/// get past the first check.
std::string with_matching_length(std::string_view input) {
  const std::size_t close = input.rfind('}');
  if (close == input.npos || close < 8) return "";
  std::string fixed(input);
  for (std::size_t i = 0; i < 8; ++i) {
    fixed[i] = static_cast<char>(((close - 7) >> (8 * i)) & 0xff);
  }
  return fixed;
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = lattice::fuzz_text(data, size);
  lattice::open_and_read(input);
  lattice::open_and_read(lattice::with_matching_length(input));
  return 0;
}
