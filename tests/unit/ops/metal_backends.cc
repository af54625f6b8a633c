#include <cstdlib>

#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_device.h"
#include "backends/registry.h"
#include "unit/ops/test_backends.h"

namespace lattice {
namespace {

// Fast unless LATTICE_SIMT_CHECKED is set: then every access is checked, and SIMD groups overtake
// one another as far as they can.
metal::simt::SimtOptions simt_options() {
  if (std::getenv("LATTICE_SIMT_CHECKED") == nullptr) return {.checked = false};
  return {.checked = true, .schedule = metal::simt::ScheduleKind::kPriority, .seed = 1};
}

}  // namespace

std::vector<std::string_view> test_backend_names() { return {"metal"}; }

Result<std::shared_ptr<const Backend>> make_test_backend(std::string_view name) {
  if (name != "metal") return make_backend(name);
  static const auto backend = std::make_shared<const metal::MetalBackend>(
      std::make_shared<metal::simt::SimtDevice>(simt_options()));
  return backend;
}

}  // namespace lattice
