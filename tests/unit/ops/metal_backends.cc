#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_device.h"
#include "backends/registry.h"
#include "unit/ops/test_backends.h"

namespace lattice {

std::vector<std::string_view> test_backend_names() { return {"metal"}; }

Result<std::shared_ptr<const Backend>> make_test_backend(std::string_view name) {
  if (name != "metal") return make_backend(name);
  // Unchecked: the tests of the kernels check every access, these run many more and larger shapes.
  static const auto backend = std::make_shared<const metal::MetalBackend>(
      std::make_shared<metal::simt::SimtDevice>(metal::simt::SimtOptions{.checked = false}));
  return backend;
}

}  // namespace lattice
