#pragma once

#include <cstdint>

#include "backends/cpu/cpu_target.h"
#include "ops/activation.h"

namespace lattice {

/// out[r][c] = activation(sums[r][c] + bias[c]) + residual[r][c]. `sums` and `bias` may be read up
/// to the next multiple of a vector beyond `cols`; `out` may be `residual`.
struct EpilogueArgs {
  const float* sums;
  std::int64_t sums_stride;
  const float* bias;
  const float* residual;  ///< nullptr for none
  std::int64_t residual_stride;
  float* out;
  std::int64_t out_stride;
  std::int64_t rows;
  std::int64_t cols;
};
using EpilogueFunction = void (*)(const EpilogueArgs& args);

/// nullptr where `target` is not compiled.
EpilogueFunction epilogue_kernel(CpuTarget target, Activation activation);

}  // namespace lattice
