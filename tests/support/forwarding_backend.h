#pragma once

#include <memory>
#include <utility>

#include "backends/registry.h"
#include "base/result.h"
#include "ops/backend.h"

namespace lattice {

/// The CPU backend, of which a test overrides what it wants to go wrong, or to be looked at.
class ForwardingBackend : public Backend {
 public:
  std::string_view name() const override { return "forwarding"; }
  std::string_view target() const override { return base_->target(); }
  std::shared_ptr<const PackedLinear> pack_linear(ThreadPool& threads,
                                                  std::span<const LinearPart> parts,
                                                  WeightFormat format) const override {
    return base_->pack_linear(threads, parts, format);
  }
  void linear(Context& context, const LinearArgs& args) const override {
    before_op();
    base_->linear(context, args);
  }
  void embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const override {
    before_op();
    base_->embedding_lookup(context, args);
  }
  void layer_norm(Context& context, const LayerNormArgs& args) const override {
    before_op();
    base_->layer_norm(context, args);
  }
  void rms_norm(Context& context, const RmsNormArgs& args) const override {
    before_op();
    base_->rms_norm(context, args);
  }
  void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const override {
    before_op();
    base_->qk_norm_rope(context, args);
  }
  void attention(Context& context, const AttentionArgs& args) const override {
    before_op();
    base_->attention(context, args);
  }
  void activation(Context& context, const ActivationArgs& args) const override {
    before_op();
    base_->activation(context, args);
  }
  void gated_activation(Context& context, const GatedActivationArgs& args) const override {
    before_op();
    base_->gated_activation(context, args);
  }
  void causal_conv1d(Context& context, const CausalConv1dArgs& args) const override {
    before_op();
    base_->causal_conv1d(context, args);
  }
  void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const override {
    before_op();
    base_->gated_delta_rule(context, args);
  }
  void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const override {
    before_op();
    base_->gated_rms_norm(context, args);
  }
  void pool(Context& context, const PoolArgs& args) const override {
    before_op();
    base_->pool(context, args);
  }
  void l2_normalize(Context& context, const L2NormalizeArgs& args) const override {
    before_op();
    base_->l2_normalize(context, args);
  }

 protected:
  /// Called before every op.
  virtual void before_op() const {}

 private:
  std::shared_ptr<const Backend> base_ = value_or_throw(make_backend("cpu"));
};

}  // namespace lattice
