// Linked into a test program, this takes the place of the library's list of backends: "metal" is
// the Metal kernels executed on the CPU, where the environment asks for it by LATTICE_METAL_SIMT=1,
// and a device that is absent otherwise.
#include <array>
#include <cstdlib>
#include <string_view>

#include "backends/cpu/cpu_backend.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_device.h"
#include "backends/registry.h"

namespace lattice {
namespace {

Result<std::shared_ptr<const Backend>> make_simt_backend() {
  const char* simt = std::getenv("LATTICE_METAL_SIMT");
  if (simt == nullptr || std::string_view(simt) != "1") {
    return fail(ErrorCode::kUnavailable, "no Metal device");
  }
  static const auto backend = std::make_shared<const metal::MetalBackend>(
      std::make_shared<metal::simt::SimtDevice>(metal::simt::SimtOptions{.checked = false}));
  return backend;
}

constexpr std::array kRows = {
    BackendRow{.name = "metal", .is_gpu = true, .make = &make_simt_backend},
    BackendRow{.name = "cpu", .make = &make_cpu_backend},
};

}  // namespace

std::span<const BackendRow> backend_rows() { return kRows; }

}  // namespace lattice
