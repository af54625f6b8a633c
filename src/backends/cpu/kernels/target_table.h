#pragma once

#include <array>
#include <cstddef>

#include "backends/cpu/cpu_target.h"

namespace lattice {

/// One value per Highway target, nullptr where the target is not compiled. Selected once, when a
/// backend is made; there is no global state as in Highway's own dispatch.
template <typename Pointer>
struct TargetTable {
  Pointer scalar;
  Pointer avx2;
  Pointer avx512;
  Pointer neon;

  constexpr Pointer get(CpuTarget target) const {
    switch (target) {
      case CpuTarget::kScalar:
        return scalar;
      case CpuTarget::kAvx2:
        return avx2;
      case CpuTarget::kAvx512:
      case CpuTarget::kAvx512Vnni:
      case CpuTarget::kAvx512Bf16:
        return avx512;
      case CpuTarget::kNeon:
        return neon;
    }
    return scalar;
  }
};

}  // namespace lattice

/// The addresses of `name` in each compiled target's namespace, as a TargetTable initialiser. Used
/// inside namespace lattice under #if HWY_ONCE.
#define LATTICE_TARGET_TABLE(name) \
  {HWY_CHOOSE_FALLBACK(name), HWY_CHOOSE_AVX2(name), HWY_CHOOSE_AVX3(name), HWY_CHOOSE_NEON(name)}
