#include "backends/registry.h"
#include "unit/ops/test_backends.h"

namespace lattice {

std::vector<std::string_view> test_backend_names() { return backend_names(); }

Result<std::shared_ptr<const Backend>> make_test_backend(std::string_view name) {
  if (name != "metal") return make_backend(name);
  static const auto metal = make_backend(name);  // compiles its kernels once
  return metal;
}

}  // namespace lattice
