#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ops/backend.h"

namespace lattice {

/// A weight that is packed for two backends, for each when it first asks. Thread-safe.
class FallbackLinear final : public PackedLinear {
 public:
  FallbackLinear(std::span<const LinearPart> parts, WeightFormat format);

  std::int64_t in_features() const override { return in_features_; }
  std::int64_t out_features() const override { return out_features_; }
  WeightFormat format() const override { return format_; }
  /// Of what is packed so far.
  std::size_t num_bytes() const override;

  const PackedLinear& for_gpu(const Backend& gpu, ThreadPool& pool) const;
  const PackedLinear& for_cpu(const Backend& cpu, ThreadPool& pool) const;

 private:
  using Packed = std::shared_ptr<const PackedLinear>;
  const PackedLinear& find_or_pack(Packed& packed, const Backend& backend, ThreadPool& pool) const;

  std::vector<LinearPart> parts_;
  std::int64_t in_features_;
  std::int64_t out_features_ = 0;
  WeightFormat format_;
  mutable std::mutex mutex_;
  mutable Packed gpu_;
  mutable Packed cpu_;
};

}  // namespace lattice
