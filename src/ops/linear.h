#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ops/activation.h"
#include "ops/matrix.h"
#include "tensor/tensor.h"

namespace lattice {

/// How a backend keeps a linear layer's weight and multiplies with it. Accumulation is in f32 (the
/// reference backend: double).
enum class WeightFormat {
  kF32,   ///< f32 weights and activations
  kBF16,  ///< weights and activations rounded to bfloat16 (nearest even), products summed in f32
  /// Weights and activations in blocks of 32 signed bytes with a scale (tensor/q8_0.h); products
  /// within a block are exact integers, blocks are summed in f32.
  kQ8_0,
};

std::string_view weight_format_name(WeightFormat format);

/// Rows of a weight matrix, as nn.Linear stores them, with their bias. Several parts that share K
/// stack along N: a fused QKV is three parts.
struct LinearPart {
  Tensor weight;                              ///< [N_i, K], a floating-point dtype
  std::optional<Tensor> bias = std::nullopt;  ///< [N_i]
};

/// A linear layer's weight in the layout of one backend. Immutable, shared by all threads.
class PackedLinear {
 public:
  PackedLinear() = default;
  PackedLinear(const PackedLinear&) = delete;
  PackedLinear& operator=(const PackedLinear&) = delete;
  virtual ~PackedLinear() = default;

  virtual std::int64_t in_features() const = 0;   ///< K
  virtual std::int64_t out_features() const = 0;  ///< N
  virtual WeightFormat format() const = 0;
  virtual std::size_t num_bytes() const = 0;  ///< memory held, padding included
};

/// out[M, N] = activation(x[M, K] weight[N, K]^T + bias[N]) + residual[M, N].
///
/// A row of `out` depends only on the same row of `x` and `residual`: its bits are the same for any
/// M, any row position and any number of threads (on a GPU, whose kernel depends on M, its value).
/// `out` may alias `residual` (same view) but not `x`.
struct LinearArgs {
  const PackedLinear* weight = nullptr;
  ConstMatrix x;
  MutMatrix out;
  Activation activation = Activation::kIdentity;
  std::optional<ConstMatrix> residual = std::nullopt;
};

}  // namespace lattice
