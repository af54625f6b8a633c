#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace lattice::avx512vnni {

/// Kernels of the Q8_0 format on vpdpbusd, which Highway 1.0.3 cannot express; nullptr when not
/// compiled. They need the AVX512_VNNI bit of CPUID besides the avx512 target.
const GemmKernels* gemm_kernels();

}  // namespace lattice::avx512vnni
