#include <array>
#include <string>
#include <vector>

#include "fuzz_support.h"
#include "io/safetensors.h"

namespace lattice {
namespace {

/// Every element of a floating-point tensor, and every block of a matrix.
void read_values(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  tensor.copy_to_f32(0, values);
  if (tensor.rank() != 2) return;
  std::vector<Q8WeightBlock> blocks(
      static_cast<std::size_t>(tensor.dim(0) * num_q8_blocks(tensor.dim(1))));
  tensor.copy_to_q8_0(0, blocks);
  if (tensor.dim(0) > 0) tensor.slice_rows(tensor.dim(0) - 1, tensor.dim(0)).discard();
}

/// Opens the bytes as a file; if that succeeds, every tensor must be readable to its last byte and
/// all of them together must be the file's data.
void open_and_read(std::string_view bytes) {
  const MemoryFile content(bytes);
  const auto file = SafetensorsFile::open(content.path());
  if (!file) {
    fuzz_check(file.error().message.starts_with("[safetensors] " + content.path().string()));
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
    if (is_floating_point(tensor->dtype())) read_values(*tensor);
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
