#include "backends/fallback/fallback_backend.h"

#include "backends/fallback/fallback_linear.h"
#include "base/check.h"
#include "base/log.h"
#include "ops/context.h"

namespace lattice {

std::optional<std::string> FallbackBackend::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void FallbackBackend::record_failure(const std::string& reason) const {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;  // another thread met it as well
    failure_ = reason;
  }
  failed_ = true;
  log_warning("device {} ({}) failed, the CPU goes on: {}", gpu_->name(), gpu_->target(), reason);
}

template <typename OnGpu, typename OnCpu>
void FallbackBackend::run(Context& context, const OnGpu& on_gpu, const OnCpu& on_cpu) const {
  if (!context.host_only() && !failed_) {
    try {
      on_gpu(*gpu_);
      return;
    } catch (const LatticeError& error) {
      if (on_failure_ == OnGpuFailure::kThrow) throw;
      record_failure(error.what());
    }
  }
  context.set_other_device(cpu_->name());
  on_cpu(*cpu_);
}

template <typename Args>
void FallbackBackend::run_op(Context& context, const Args& args, Op<Args> op) const {
  const auto call = [&](const Backend& backend) { (backend.*op)(context, args); };
  run(context, call, call);
}

std::shared_ptr<const PackedLinear> FallbackBackend::pack_linear(ThreadPool&,
                                                                 std::span<const LinearPart> parts,
                                                                 WeightFormat format) const {
  return std::make_shared<const FallbackLinear>(parts, format);
}

void FallbackBackend::linear(Context& context, const LinearArgs& args) const {
  const auto* weight = dynamic_cast<const FallbackLinear*>(args.weight);
  check(weight != nullptr, "[linear] the weight was packed by another backend");
  LinearArgs own = args;
  run(
      context,
      [&](const Backend& gpu) {
        own.weight = &weight->for_gpu(gpu, context.threads());
        gpu.linear(context, own);
      },
      [&](const Backend& cpu) {
        own.weight = &weight->for_cpu(cpu, context.threads());
        cpu.linear(context, own);
      });
}

void FallbackBackend::embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const {
  run_op(context, args, &Backend::embedding_lookup);
}

void FallbackBackend::layer_norm(Context& context, const LayerNormArgs& args) const {
  run_op(context, args, &Backend::layer_norm);
}

void FallbackBackend::rms_norm(Context& context, const RmsNormArgs& args) const {
  run_op(context, args, &Backend::rms_norm);
}

void FallbackBackend::qk_norm_rope(Context& context, const QkNormRopeArgs& args) const {
  run_op(context, args, &Backend::qk_norm_rope);
}

void FallbackBackend::attention(Context& context, const AttentionArgs& args) const {
  run_op(context, args, &Backend::attention);
}

void FallbackBackend::activation(Context& context, const ActivationArgs& args) const {
  run_op(context, args, &Backend::activation);
}

void FallbackBackend::gated_activation(Context& context, const GatedActivationArgs& args) const {
  run_op(context, args, &Backend::gated_activation);
}

void FallbackBackend::causal_conv1d(Context& context, const CausalConv1dArgs& args) const {
  run_op(context, args, &Backend::causal_conv1d);
}

void FallbackBackend::gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const {
  run_op(context, args, &Backend::gated_delta_rule);
}

void FallbackBackend::gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const {
  run_op(context, args, &Backend::gated_rms_norm);
}

void FallbackBackend::pool(Context& context, const PoolArgs& args) const {
  run_op(context, args, &Backend::pool);
}

void FallbackBackend::l2_normalize(Context& context, const L2NormalizeArgs& args) const {
  run_op(context, args, &Backend::l2_normalize);
}

}  // namespace lattice
