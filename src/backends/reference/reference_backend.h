#pragma once

#include "ops/backend.h"

namespace lattice {

/// The specification of every op: plain loops over double, one thread, no cleverness. Activations
/// are rounded to f32 between ops. Every other backend is tested against it.
class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string_view target() const override { return "double"; }

  std::shared_ptr<const PackedLinear> pack_linear(ThreadPool& pool,
                                                  std::span<const LinearPart> parts,
                                                  WeightFormat format) const override;
  void linear(Context& context, const LinearArgs& args) const override;
  void embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const override;
  void layer_norm(Context& context, const LayerNormArgs& args) const override;
  void rms_norm(Context& context, const RmsNormArgs& args) const override;
  void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const override;
  void attention(Context& context, const AttentionArgs& args) const override;
  void activation(Context& context, const ActivationArgs& args) const override;
  void gated_activation(Context& context, const GatedActivationArgs& args) const override;
  void causal_conv1d(Context& context, const CausalConv1dArgs& args) const override;
  void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const override;
  void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const override;
  void pool(Context& context, const PoolArgs& args) const override;
  void l2_normalize(Context& context, const L2NormalizeArgs& args) const override;
};

}  // namespace lattice
