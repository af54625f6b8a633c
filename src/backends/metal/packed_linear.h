#pragma once

#include <memory>
#include <span>

#include "backends/metal/device.h"
#include "ops/linear.h"

namespace lattice::metal {

/// A weight in shared buffers: [N, K] in bf16 for kBF16 and, for kF32, in the 16 bits that all its
/// parts are stored in, else f32; or Q8_0's quants [N, blocks, 32] and f32 scales [N, blocks]; the
/// bias [N] in f32. One part that is stored just so, aligned as its elements are, stays where it is
/// if the device can read it there.
class MetalLinear final : public PackedLinear {
 public:
  /// Throws LatticeError when the device has no memory left.
  MetalLinear(Device& device, std::span<const LinearPart> parts, WeightFormat format);

  std::int64_t in_features() const override { return in_features_; }
  std::int64_t out_features() const override { return out_features_; }
  WeightFormat format() const override { return format_; }
  /// What stays in the tensor's own memory does not count.
  std::size_t num_bytes() const override;

  bool has_bias() const { return has_bias_; }
  /// Of the elements in weight(): kF32, kF16 or kBF16; kQ8_0 for quants.
  DType dtype() const { return dtype_; }
  Buffer& weight() const { return *weight_; }
  Buffer& scales() const { return *scales_; }  ///< Q8_0 only
  Buffer& bias() const { return *bias_; }

 private:
  void allocate_weight(Device& device);
  void append_floats(const LinearPart& part, std::int64_t first_row);
  void append_blocks(const LinearPart& part, std::int64_t first_row);

  std::int64_t in_features_;
  std::int64_t out_features_ = 0;
  WeightFormat format_;
  DType dtype_;
  bool has_bias_ = false;
  std::unique_ptr<Buffer> weight_;
  std::unique_ptr<Buffer> scales_;
  std::unique_ptr<Buffer> bias_;
};

}  // namespace lattice::metal
