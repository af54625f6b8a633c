#pragma once

#include "ops/activation.h"
#include "ops/matrix.h"

namespace lattice {

/// out = activation(gate) * up elementwise: SwiGLU with kSilu. `out` may alias `gate`.
/// Source: Shazeer 2020, arXiv:2002.05202.
struct GatedActivationArgs {
  ConstMatrix gate;  ///< [num_tokens, intermediate_size]
  ConstMatrix up;    ///< like gate
  Activation activation = Activation::kSilu;
  MutMatrix out;
};

}  // namespace lattice
