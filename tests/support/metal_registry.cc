// Linked into a test program, this takes the place of the library's registry of backends: every
// model of the program runs on the Metal kernels, executed on the CPU.
#include "backends/registry.h"

#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_device.h"

namespace lattice {

Result<std::shared_ptr<const Backend>> make_backend(std::string_view name) {
  if (name != "metal") {
    return fail(ErrorCode::kUnavailable, "device \"{}\": not built into this test program", name);
  }
  static const auto backend = std::make_shared<const metal::MetalBackend>(
      std::make_shared<metal::simt::SimtDevice>(metal::simt::SimtOptions{.checked = false}));
  return backend;
}

std::vector<std::string_view> backend_names() { return {"metal"}; }

}  // namespace lattice
