#include "backends/fallback/fallback_linear.h"

namespace lattice {

FallbackLinear::FallbackLinear(std::span<const LinearPart> parts, WeightFormat format)
    : parts_(parts.begin(), parts.end()),
      in_features_(parts.front().weight.dim(1)),
      format_(format) {
  for (const LinearPart& part : parts) out_features_ += part.weight.dim(0);
}

std::size_t FallbackLinear::num_bytes() const {
  const std::lock_guard lock(mutex_);
  return (gpu_ ? gpu_->num_bytes() : 0) + (cpu_ ? cpu_->num_bytes() : 0);
}

const PackedLinear& FallbackLinear::for_gpu(const Backend& gpu, ThreadPool& pool) const {
  return find_or_pack(gpu_, gpu, pool);
}

const PackedLinear& FallbackLinear::for_cpu(const Backend& cpu, ThreadPool& pool) const {
  return find_or_pack(cpu_, cpu, pool);
}

const PackedLinear& FallbackLinear::find_or_pack(Packed& packed, const Backend& backend,
                                                 ThreadPool& pool) const {
  const std::lock_guard lock(mutex_);
  if (packed == nullptr) packed = backend.pack_linear(pool, parts_, format_);
  return *packed;
}

}  // namespace lattice
