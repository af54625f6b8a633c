#pragma once

#include "backends/cpu/cpu_target.h"
#include "ops/backend.h"

namespace lattice {

/// Ops on the processor's vector units; one file per op. Every result is a function of its own row
/// or sequence alone: bits do not depend on the batch, the position in it or the threads.
class CpuBackend final : public Backend {
 public:
  /// `target` must be one of available_cpu_targets().
  explicit CpuBackend(CpuTarget target) : target_(target) {}

  std::string_view name() const override { return "cpu"; }
  std::string_view target() const override { return cpu_target_name(target_); }

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

 private:
  CpuTarget target_;
};

/// The backend for the best target of this machine, or the one that LATTICE_CPU_TARGET names.
/// Errors: those of select_cpu_target.
Result<std::shared_ptr<const Backend>> make_cpu_backend();

}  // namespace lattice
