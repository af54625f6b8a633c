#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/cpu_features.h"
#include "base/result.h"

namespace lattice {

/// The instruction sets that the kernels are compiled for. Results are bit-identical between
/// machines that run the same target, not between targets.
enum class CpuTarget {
  kScalar,      ///< "scalar": the compiler's baseline
  kAvx2,        ///< "avx2": with FMA and F16C
  kAvx512,      ///< "avx512": F, DQ, BW and VL
  kAvx512Vnni,  ///< "avx512vnni": avx512, and Q8_0 products by vpdpbusd
  kAvx512Bf16,  ///< "avx512bf16": avx512vnni, and bf16 products by vdpbf16ps
  kNeon,        ///< "neon": 64-bit Arm
};

std::string_view cpu_target_name(CpuTarget target);

/// The targets that are compiled into this library and that `features` allow, best first.
std::vector<CpuTarget> available_cpu_targets(const CpuFeatures& features);

/// The target called `forced`, or the best one when `forced` is empty. Errors: kInvalidArgument for
/// an unknown name; kUnavailable when the name's instructions are missing, naming them.
Result<CpuTarget> select_cpu_target(std::string_view forced, const CpuFeatures& features);

}  // namespace lattice
