#include "ops/activation.h"

#include <array>
#include <cmath>
#include <numbers>

namespace lattice {
namespace {

struct ActivationRow {
  std::string_view name;
  Activation activation;
};

// The first row of each activation is its canonical name.
constexpr std::array<ActivationRow, 12> kActivations = {{
    {"identity", Activation::kIdentity},
    {"linear", Activation::kIdentity},
    {"gelu", Activation::kGelu},
    {"gelu_python", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"tanh", Activation::kTanh},
    {"sigmoid", Activation::kSigmoid},
}};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace

std::optional<Activation> parse_activation(std::string_view name) {
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

std::string_view activation_name(Activation activation) {
  for (const ActivationRow& row : kActivations) {
    if (row.activation == activation) return row.name;
  }
  return "identity";
}

double apply_activation(Activation activation, double x) {
  switch (activation) {
    case Activation::kIdentity:
      return x;
    case Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case Activation::kGeluTanh: {
      const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1.0 + std::tanh(inner));
    }
    case Activation::kRelu:
      return x > 0.0 ? x : (x == x ? 0.0 : x);
    case Activation::kSilu:
      return x * sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return sigmoid(x);
  }
  return x;
}

}  // namespace lattice
