#include "backends/metal/metal_backend.h"

#include "backends/metal/msl_source.h"
#include "backends/metal/packed_linear.h"

namespace lattice::metal {

Result<void> MetalBackend::supports(const HeadShape& heads) const {
  return validate_fused_kernel_shape(heads.head_dim, heads.num_heads, heads.num_kv_heads);
}

std::shared_ptr<const PackedLinear> MetalBackend::pack_linear(ThreadPool&,
                                                              std::span<const LinearPart> parts,
                                                              WeightFormat format) const {
  return std::make_shared<const MetalLinear>(*device_, parts, format);
}

}  // namespace lattice::metal
