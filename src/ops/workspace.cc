#include "ops/workspace.h"

#include <algorithm>

namespace lattice {
namespace {

constexpr std::size_t kMinBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = kBufferAlignment;

}  // namespace

std::byte* Workspace::allocate(std::size_t num_bytes) {
  const std::size_t size = (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (block_ < blocks_.size() && used_ + size > blocks_[block_].size()) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t doubled = blocks_.empty() ? 0 : 2 * blocks_.back().size();
    blocks_.emplace_back(std::max({size, kMinBlockBytes, doubled}));
    used_ = 0;
  }
  std::byte* data = blocks_[block_].data() + used_;
  used_ += size;
  return data;
}

MutMatrix Workspace::matrix(std::int64_t rows, std::int64_t cols) {
  return MutMatrix(floats(rows * cols).data(), rows, cols);
}

std::size_t Workspace::capacity() const {
  std::size_t total = 0;
  for (const auto& block : blocks_) total += block.size();
  return total;
}

void Workspace::trim(std::size_t limit) {
  if (capacity() <= limit) return;
  blocks_.clear();
  block_ = 0;
  used_ = 0;
}

}  // namespace lattice
