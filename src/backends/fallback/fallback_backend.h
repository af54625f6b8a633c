#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backends/gpu_failure.h"
#include "ops/backend.h"

namespace lattice {

/// A GPU's backend with the CPU behind it. An op runs on the CPU when its pass is to stay there
/// (Context::begin_pass), and, if so asked, when the GPU has failed: the op that failed is computed
/// again, all later ones of every pass go to the CPU at once, and the reason is logged once. That
/// works op by op because a GPU's op that fails leaves its inputs as they were.
///
/// Weights are packed for each of the two when it first needs them.
class FallbackBackend final : public Backend {
 public:
  FallbackBackend(std::shared_ptr<const Backend> gpu, std::shared_ptr<const Backend> cpu,
                  OnGpuFailure on_failure)
      : gpu_(std::move(gpu)), cpu_(std::move(cpu)), on_failure_(on_failure) {}

  std::string_view name() const override { return gpu_->name(); }
  std::string_view target() const override { return gpu_->target(); }
  Result<void> supports(const HeadShape& heads) const override { return gpu_->supports(heads); }

  /// Why the GPU is no longer used; nothing while it is.
  std::optional<std::string> failure() const;

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
  template <typename Args>
  using Op = void (Backend::*)(Context&, const Args&) const;

  /// Runs `on_gpu`, or else `on_cpu`, each of which gets its backend.
  template <typename OnGpu, typename OnCpu>
  void run(Context& context, const OnGpu& on_gpu, const OnCpu& on_cpu) const;
  template <typename Args>
  void run_op(Context& context, const Args& args, Op<Args> op) const;
  void record_failure(const std::string& reason) const;

  std::shared_ptr<const Backend> gpu_;
  std::shared_ptr<const Backend> cpu_;
  OnGpuFailure on_failure_;
  mutable std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;  // of the reason
  mutable std::optional<std::string> failure_;
};

}  // namespace lattice
