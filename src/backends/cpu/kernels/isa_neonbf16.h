#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace lattice::neonbf16 {

/// Kernels of the bf16 format on bfmmla, which Highway 1.0.3 cannot express; nullptr when not
/// compiled. They need the neonbf16 target.
const GemmKernels* gemm_kernels();

}  // namespace lattice::neonbf16
