#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace lattice {

/// Keeps a copy of bytes at `offset` from an aligned address.
class BytesStorage : public TensorStorage {
 public:
  BytesStorage(std::span<const std::byte> bytes, std::size_t offset)
      : bytes_(bytes.size() + offset), offset_(offset) {
    if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
  }
  const std::byte* data() const { return bytes_.data() + offset_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t offset_;
};

/// A tensor [n, k] stored in Q8_0 with these blocks, n * ceil(k / 32) of them.
inline Tensor q8_tensor(std::int64_t n, std::int64_t k, std::span<const Q8WeightBlock> blocks,
                        std::size_t offset = 0) {
  auto storage = std::make_shared<const BytesStorage>(std::as_bytes(blocks), offset);
  const std::byte* data = storage->data();
  return Tensor(DType::kQ8_0, {n, k}, data, std::move(storage));
}

/// Blocks that a file may hold: every quant from -128 to 127, scales of either sign from 2^-12 to
/// 2^-4, anything behind the last column.
inline std::vector<Q8WeightBlock> random_q8_blocks(std::int64_t n, std::int64_t k,
                                                   std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Q8WeightBlock> blocks(static_cast<std::size_t>(n * num_q8_blocks(k)));
  for (Q8WeightBlock& block : blocks) {
    block.scale.bits = static_cast<std::uint16_t>((3 + random() % 8) << 10 | random() % 1024 |
                                                  (random() % 2) << 15);
    for (std::int8_t& quant : block.quants) quant = static_cast<std::int8_t>(random());
  }
  return blocks;
}

}  // namespace lattice
