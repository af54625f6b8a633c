#include "base/process_memory.h"

#include <sys/resource.h>

namespace lattice {

std::uint64_t peak_resident_bytes() {
#if defined(__APPLE__)
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kUnit;
}

}  // namespace lattice
