#pragma once

#include <cstdint>

#include "base/aligned_buffer.h"
#include "ops/gated_delta_rule.h"

namespace lattice {

/// Sizes of what a Gated DeltaNet layer keeps of a sequence.
struct DeltaCacheShape {
  DeltaRuleShape rule;
  std::int64_t conv_channels = 0;
  std::int64_t conv_kernel = 0;
};

/// What one sequence leaves behind in one Gated DeltaNet layer: the state of its delta rule and the
/// convolution's inputs since the chunk's start. Copies are independent; one thread at a time.
class DeltaCache {
 public:
  explicit DeltaCache(const DeltaCacheShape& shape);
  DeltaCache(const DeltaCache& other);
  DeltaCache& operator=(const DeltaCache&) = delete;
  DeltaCache(DeltaCache&&) = default;
  DeltaCache& operator=(DeltaCache&&) = default;

  /// For the op, which brings it up to date.
  DeltaRuleState& rule() { return state_; }

  /// The convolution's inputs before the next token, oldest first: [conv_kernel - 1, channels].
  ConstMatrix history() const;
  /// Keeps the convolution's inputs x [n, channels] of new tokens; before the op sees them.
  void append_inputs(ConstMatrix x);

  std::int64_t num_pending() const { return state_.num_pending; }
  /// Drops the chunk's last tokens.
  void truncate_pending(std::int64_t num_pending) { state_.num_pending = num_pending; }

  std::size_t num_bytes() const;

 private:
  std::int64_t overlap() const { return shape_.conv_kernel - 1; }
  float* input_row(std::int64_t i) { return inputs_.data() + i * shape_.conv_channels; }

  DeltaCacheShape shape_;
  AlignedBuffer<float> matrix_;
  AlignedBuffer<float> keys_;
  AlignedBuffer<float> deltas_;
  AlignedBuffer<double> decays_;
  AlignedBuffer<float>
      inputs_;            // [overlap + kDeltaRuleChunk, channels], from chunk start - overlap
  DeltaRuleState state_;  // of the buffers above
};

}  // namespace lattice
