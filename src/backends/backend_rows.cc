#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "backends/registry.h"

namespace lattice {
namespace {

// Best first.
constexpr std::array kRows = {
    BackendRow{.name = "cpu", .make = &make_cpu_backend},
    BackendRow{.name = "reference",
               .make = []() -> Result<std::shared_ptr<const Backend>> {
                 return std::make_shared<const ReferenceBackend>();
               }},
};

}  // namespace

std::span<const BackendRow> backend_rows() { return kRows; }

}  // namespace lattice
