#include "backends/registry.h"

#include <fmt/ranges.h>

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

struct BackendRow {
  std::string_view name;
  Result<std::shared_ptr<const Backend>> (*make)();
};

// Best first.
constexpr std::array<BackendRow, 2> kBackends = {{
    {"cpu", &make_cpu_backend},
    {"reference",
     []() -> Result<std::shared_ptr<const Backend>> {
       return std::make_shared<const ReferenceBackend>();
     }},
}};

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
