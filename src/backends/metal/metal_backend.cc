#include "backends/metal/metal_backend.h"

#include "backends/metal/packed_linear.h"

namespace lattice::metal {

std::shared_ptr<const PackedLinear> MetalBackend::pack_linear(ThreadPool&,
                                                              std::span<const LinearPart> parts,
                                                              WeightFormat format) const {
  return std::make_shared<const MetalLinear>(*device_, parts, format);
}

void MetalBackend::gated_delta_rule(Context&, const GatedDeltaRuleArgs&) const {
  raise(ErrorCode::kUnsupported, "[gated_delta_rule] has no Metal kernel");
}

}  // namespace lattice::metal
