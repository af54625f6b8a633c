#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/metal_device.h"
#include "backends/reference/reference_backend.h"
#include "backends/registry.h"

namespace lattice {
namespace {

#if LATTICE_METAL
Result<std::shared_ptr<const Backend>> make_metal_backend() {
  auto device = metal::make_metal_device();
  if (!device) return forward_error(device);
  return std::make_shared<const metal::MetalBackend>(std::move(*device));
}
#endif

// Best first.
constexpr auto kRows = std::to_array<BackendRow>({
#if LATTICE_METAL
    {.name = "metal", .is_gpu = true, .make = &make_metal_backend},
#endif
    {.name = "cpu", .make = &make_cpu_backend},
    {.name = "reference",
     .make = []() -> Result<std::shared_ptr<const Backend>> {
       return std::make_shared<const ReferenceBackend>();
     }},
});

}  // namespace

std::span<const BackendRow> backend_rows() { return kRows; }

}  // namespace lattice
