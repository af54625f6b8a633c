#pragma once

#include <span>

#include "backends/cpu/kernels/gemm.h"
#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "ops/linear.h"

namespace lattice {

/// A weight as panels for one target's kernels (kernels/gemm.h), all parts stacked along N.
class CpuLinear final : public PackedLinear {
 public:
  /// Reads each part once, front to back (one front per thread), and discards what it has read.
  CpuLinear(ThreadPool& pool, std::span<const LinearPart> parts, WeightFormat format,
            const GemmKernels& kernels);

  std::int64_t in_features() const override { return k_; }
  std::int64_t out_features() const override { return n_; }
  WeightFormat format() const override { return format_; }
  std::size_t num_bytes() const override { return panels_.size() + bias_.span().size_bytes(); }

  const GemmKernels& kernels() const { return kernels_; }
  /// K in the format's depth elements.
  std::int64_t depth() const { return depth_; }
  std::int64_t num_panels() const { return num_panels_; }
  /// Of one depth element of a panel.
  std::int64_t panel_floats() const {
    return kernels_.panel_cols * kernels_.column_bytes / static_cast<std::int64_t>(sizeof(float));
  }
  const std::byte* panel(std::int64_t panel_idx) const {
    return panels_.data() + panel_idx * panel_bytes_;
  }
  /// [num_panels * panel_cols], zeros where there is no bias.
  const float* bias() const { return bias_.data(); }

 private:
  void pack_bias(std::span<const LinearPart> parts);
  void pack_panels(std::span<const LinearPart> parts, std::int64_t begin, std::int64_t end);

  const GemmKernels& kernels_;
  WeightFormat format_;
  std::int64_t k_;
  std::int64_t n_;
  std::int64_t depth_;
  std::int64_t num_panels_;
  std::int64_t panel_bytes_;
  AlignedBuffer<std::byte> panels_;
  AlignedBuffer<float> bias_;
};

}  // namespace lattice
