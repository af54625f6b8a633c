#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace lattice::neondotprod {

/// Kernels of Q8_0 on sdot, which Highway 1.0.3 cannot express: the panels, blocks and bits of the
/// neon target. nullptr when not compiled. They need the neondotprod target.
const GemmKernels* gemm_kernels();

}  // namespace lattice::neondotprod
