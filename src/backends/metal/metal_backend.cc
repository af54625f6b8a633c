#include "backends/metal/metal_backend.h"

#include "backends/metal/packed_linear.h"

namespace lattice::metal {

std::shared_ptr<const PackedLinear> MetalBackend::pack_linear(ThreadPool&,
                                                              std::span<const LinearPart> parts,
                                                              WeightFormat format) const {
  return std::make_shared<const MetalLinear>(*device_, parts, format);
}

}  // namespace lattice::metal
