#include "backends/registry.h"

namespace lattice {

Result<std::shared_ptr<const Backend>> make_backend(std::string_view name) {
  return fail(ErrorCode::kUnavailable, "device {}: not built into this library", name);
}

std::vector<std::string_view> backend_names() { return {}; }

}  // namespace lattice
