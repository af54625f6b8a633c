#include "backends/cpu/cpu_backend.h"

#include <cstdlib>

namespace lattice {

Result<std::shared_ptr<const Backend>> make_cpu_backend() {
  const char* forced = std::getenv("LATTICE_CPU_TARGET");
  auto target = select_cpu_target(forced == nullptr ? "" : forced, CpuFeatures::host());
  if (!target) return forward_error(target);
  return std::make_shared<const CpuBackend>(*target);
}

}  // namespace lattice
