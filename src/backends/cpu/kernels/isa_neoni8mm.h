#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace lattice::neoni8mm {

/// Kernels of Q8_0 on smmla, which multiplies two rows by two columns at once and which
/// Highway 1.0.3 cannot express; the bits are those of the neon target. nullptr when not compiled.
/// They need the neoni8mm target.
const GemmKernels* gemm_kernels();

}  // namespace lattice::neoni8mm
