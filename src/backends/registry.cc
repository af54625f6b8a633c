#include "backends/registry.h"

#include <fmt/ranges.h>

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/metal_device.h"
#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

struct BackendRow {
  std::string_view name;
  Result<std::shared_ptr<const Backend>> (*make)();
};

#if LATTICE_METAL
Result<std::shared_ptr<const Backend>> make_metal_backend() {
  auto device = metal::make_metal_device();
  if (!device) return forward_error(device);
  return std::make_shared<const metal::MetalBackend>(std::move(*device));
}
#endif

// Best first.
constexpr auto kBackends = std::to_array<BackendRow>({
#if LATTICE_METAL
    {"metal", &make_metal_backend},
#endif
    {"cpu", &make_cpu_backend},
    {"reference",
     []() -> Result<std::shared_ptr<const Backend>> {
       return std::make_shared<const ReferenceBackend>();
     }},
});

}  // namespace

Result<std::shared_ptr<const Backend>> make_backend(std::string_view name) {
  for (const BackendRow& row : kBackends) {
    if (row.name == name) return row.make();
  }
  return fail(ErrorCode::kUnavailable, "device \"{}\": not built into this library, which has: {}",
              name, fmt::join(backend_names(), ", "));
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const BackendRow& row : kBackends) names.push_back(row.name);
  return names;
}

}  // namespace lattice
