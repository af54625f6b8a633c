#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "layers/weight_scope.h"
#include "ops/ops.h"

namespace lattice {

/// A linear layer: nn.Linear, or several of them over the same input, stacked along N and computed
/// as one. The backend packs the weight on first use, once, whichever thread comes first; until
/// then only the file mapping is held. Thread-safe after construction.
class Linear {
 public:
  /// Throws kMalformed when the parts do not fit together.
  Linear(std::vector<LinearPart> parts, WeightFormat format);
  /// One nn.Linear alone.
  Linear(LinearPart part, WeightFormat format);

  std::int64_t in_features() const { return in_features_; }
  std::int64_t out_features() const { return out_features_; }

  /// out[M, N] = activation(x[M, K] W^T + b) + residual.
  void forward(Context& context, ConstMatrix x, MutMatrix out,
               Activation activation = Activation::kIdentity,
               std::optional<ConstMatrix> residual = std::nullopt) const;

  /// Packs now instead of on first use.
  const PackedLinear& packed(Context& context) const;

 private:
  std::int64_t in_features_;
  std::int64_t out_features_;
  WeightFormat format_;
  // Behind a pointer because std::once_flag cannot move.
  struct Packing {
    std::once_flag once;
    std::vector<LinearPart> parts;
    std::shared_ptr<const PackedLinear> packed;
  };
  std::unique_ptr<Packing> packing_;
};

/// "<name>.weight" [out_features, in_features] and, when present or required, "<name>.bias".
LinearPart load_linear_part(const WeightScope& scope, std::int64_t in_features,
                            std::int64_t out_features, bool bias);

}  // namespace lattice
