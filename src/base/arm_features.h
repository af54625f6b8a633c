#pragma once

#include "base/cpu_features.h"

namespace lattice {

/// Whether this machine is a 64-bit Arm one with `feature`, according to its operating system:
/// Linux by the auxiliary vector (HWCAP), macOS by sysctl; elsewhere only what every such machine
/// has.
bool arm_has(CpuFeature feature);

}  // namespace lattice
