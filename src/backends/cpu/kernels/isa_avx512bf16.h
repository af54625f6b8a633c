#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace lattice::avx512bf16 {

/// Kernels of the bf16 format on vdpbf16ps, which Highway 1.0.3 cannot express; nullptr when not
/// compiled. They need the AVX512_BF16 bit of CPUID besides the avx512 target.
const GemmKernels* gemm_kernels();

}  // namespace lattice::avx512bf16
