#pragma once

#include <memory>
#include <string>

#include "backends/metal/device.h"
#include "backends/metal/kernel_library.h"
#include "ops/backend.h"

namespace lattice::metal {

/// Ops as Metal kernels; one file per group of ops. Kernels are compiled for each shape of heads
/// when it first occurs. Inputs and outputs are copied between host memory and shared buffers.
///
/// A row's bits may depend on the number of rows of a linear op, which selects its kernel. Ops
/// throw LatticeError: kUnsupported for shapes without kernels, kUnavailable when the device fails.
class MetalBackend final : public Backend {
 public:
  explicit MetalBackend(std::shared_ptr<Device> device)
      : device_(std::move(device)), target_(device_->name()), libraries_(*device_) {}

  std::string_view name() const override { return "metal"; }
  std::string_view target() const override { return target_; }
  Result<void> supports(const HeadShape& heads) const override;

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
  /// A kernel that does not depend on the shape of heads.
  const Pipeline& pipeline(std::string_view name) const {
    return libraries_.for_any_heads().pipeline(name);
  }

  std::shared_ptr<Device> device_;
  std::string target_;
  mutable KernelLibraries libraries_;
};

}  // namespace lattice::metal
