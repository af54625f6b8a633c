#include "models/delta_cache.h"

#include <algorithm>

namespace lattice {
namespace {

template <typename T>
AlignedBuffer<T> zeros(std::int64_t count) {
  AlignedBuffer<T> buffer(static_cast<std::size_t>(count));
  std::fill_n(buffer.data(), buffer.size(), T{});
  return buffer;
}

template <typename T>
AlignedBuffer<T> copy(const AlignedBuffer<T>& other) {
  AlignedBuffer<T> buffer(other.size());
  std::copy_n(other.data(), other.size(), buffer.data());
  return buffer;
}

}  // namespace

DeltaCache::DeltaCache(const DeltaCacheShape& shape)
    : shape_(shape),
      matrix_(zeros<float>(shape.rule.num_value_heads * shape.rule.key_head_dim *
                           shape.rule.value_stride())),
      keys_(zeros<float>(shape.rule.key_dim() * kDeltaRuleChunk)),
      deltas_(
          zeros<float>(shape.rule.num_value_heads * kDeltaRuleChunk * shape.rule.value_stride())),
      decays_(zeros<double>(shape.rule.num_value_heads * kDeltaRuleChunk)),
      inputs_(zeros<float>((shape.conv_kernel - 1 + kDeltaRuleChunk) * shape.conv_channels)),
      state_{matrix_.data(), keys_.data(), deltas_.data(), decays_.data(), 0} {}

DeltaCache::DeltaCache(const DeltaCache& other)
    : shape_(other.shape_),
      matrix_(copy(other.matrix_)),
      keys_(copy(other.keys_)),
      deltas_(copy(other.deltas_)),
      decays_(copy(other.decays_)),
      inputs_(copy(other.inputs_)),
      state_{matrix_.data(), keys_.data(), deltas_.data(), decays_.data(),
             other.state_.num_pending} {}

ConstMatrix DeltaCache::history() const {
  return {inputs_.data() + state_.num_pending * shape_.conv_channels, overlap(),
          shape_.conv_channels};
}

void DeltaCache::append_inputs(ConstMatrix x) {
  if (x.rows == 0) return;
  const std::int64_t pending = state_.num_pending;
  // How far the chunk's start moves; rows are counted from the old start.
  const std::int64_t moved = (pending + x.rows - 1) / kDeltaRuleChunk * kDeltaRuleChunk;
  const std::int64_t first = moved == 0 ? pending : moved - overlap();
  for (std::int64_t row = first; row < pending + x.rows; ++row) {
    // Rows move towards the front, so none is overwritten before it has moved.
    const float* from = row < pending ? input_row(overlap() + row) : x.row(row - pending);
    std::copy_n(from, shape_.conv_channels, input_row(overlap() + row - moved));
  }
}

std::size_t DeltaCache::num_bytes() const {
  return matrix_.span().size_bytes() + keys_.span().size_bytes() + deltas_.span().size_bytes() +
         decays_.span().size_bytes() + inputs_.span().size_bytes();
}

}  // namespace lattice
