#pragma once

#include <string>
#include <vector>

#include "backends/registry.h"

namespace lattice {

/// The names of the backends that this machine can run, best first: a library for Macs also knows
/// the GPU where there is none that will do.
inline std::vector<std::string> usable_backends() {
  std::vector<std::string> names;
  for (const std::string_view name : backend_names()) {
    if (make_backend(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace lattice
