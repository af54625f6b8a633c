#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ops/matrix.h"

namespace lattice {

/// Elementwise functions, with the names of Hugging Face's ACT2FN.
/// Backends index tables by the value, so new ones go to the end.
enum class Activation {
  kIdentity,
  kGelu,      ///< x/2 (1 + erf(x/sqrt 2)), the exact form ("gelu", "gelu_python")
  kGeluTanh,  ///< tanh approximation ("gelu_new", "gelu_pytorch_tanh", "gelu_fast")
  kRelu,
  kSilu,  ///< x sigmoid(x) ("silu", "swish")
  kTanh,
  kSigmoid,
};
inline constexpr std::size_t kNumActivations = 7;

/// The activation that a Hugging Face config names; nothing when lattice does not implement it.
std::optional<Activation> parse_activation(std::string_view name);

/// The canonical Hugging Face name.
std::string_view activation_name(Activation activation);

/// f(x) in double: the specification of every activation.
double apply_activation(Activation activation, double x);

/// In-place elementwise activation of x [rows, cols].
struct ActivationArgs {
  MutMatrix x;
  Activation activation = Activation::kIdentity;
};

}  // namespace lattice
