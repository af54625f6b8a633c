#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ops/backend.h"
#include "ops/context.h"

namespace lattice {

/// A backend that computes everything with `tested` and every linear layer a second time with
/// `specification`, on the very same inputs. So a whole forward pass is checked product by product:
/// what one backend rounds otherwise in an early layer says nothing about the later ones.
class CheckingBackend final : public Backend {
 public:
  CheckingBackend(std::shared_ptr<const Backend> tested,
                  std::shared_ptr<const Backend> specification)
      : tested_(std::move(tested)), specification_(std::move(specification)) {}

  /// Greatest |tested - specified| / max(1, |specified|) so far, and how many products there were.
  double worst() const { return worst_; }
  std::size_t num_products() const { return num_products_; }

  std::string_view name() const override { return tested_->name(); }
  std::string_view target() const override { return tested_->target(); }

  std::shared_ptr<const PackedLinear> pack_linear(ThreadPool& pool,
                                                  std::span<const LinearPart> parts,
                                                  WeightFormat format) const override {
    return std::make_shared<const Pair>(tested_->pack_linear(pool, parts, format),
                                        specification_->pack_linear(pool, parts, format));
  }

  void linear(Context& context, const LinearArgs& args) const override {
    const auto& pair = dynamic_cast<const Pair&>(*args.weight);
    std::vector<float> expected(static_cast<std::size_t>(args.out.rows * args.out.cols));
    LinearArgs specified = args;
    specified.weight = pair.specified.get();
    specified.out = MutMatrix(expected.data(), args.out.rows, args.out.cols);
    specification_->linear(context, specified);  // first: out may be the residual
    LinearArgs tested = args;
    tested.weight = pair.tested.get();
    tested_->linear(context, tested);
    for (std::int64_t r = 0; r < args.out.rows; ++r) {
      for (std::int64_t c = 0; c < args.out.cols; ++c) {
        const auto wanted = static_cast<double>(specified.out.row(r)[c]);
        const double difference = std::abs(static_cast<double>(args.out.row(r)[c]) - wanted) /
                                  std::max(1.0, std::abs(wanted));
        if (!(difference <= worst_)) worst_ = difference;  // NaN counts
      }
    }
    ++num_products_;
  }

  void embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const override {
    tested_->embedding_lookup(context, args);
  }
  void layer_norm(Context& context, const LayerNormArgs& args) const override {
    tested_->layer_norm(context, args);
  }
  void rms_norm(Context& context, const RmsNormArgs& args) const override {
    tested_->rms_norm(context, args);
  }
  void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const override {
    tested_->qk_norm_rope(context, args);
  }
  void attention(Context& context, const AttentionArgs& args) const override {
    tested_->attention(context, args);
  }
  void activation(Context& context, const ActivationArgs& args) const override {
    tested_->activation(context, args);
  }
  void gated_activation(Context& context, const GatedActivationArgs& args) const override {
    tested_->gated_activation(context, args);
  }
  void causal_conv1d(Context& context, const CausalConv1dArgs& args) const override {
    tested_->causal_conv1d(context, args);
  }
  void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const override {
    tested_->gated_delta_rule(context, args);
  }
  void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const override {
    tested_->gated_rms_norm(context, args);
  }
  void pool(Context& context, const PoolArgs& args) const override { tested_->pool(context, args); }
  void l2_normalize(Context& context, const L2NormalizeArgs& args) const override {
    tested_->l2_normalize(context, args);
  }

 private:
  struct Pair final : PackedLinear {
    Pair(std::shared_ptr<const PackedLinear> tested_in,
         std::shared_ptr<const PackedLinear> specified_in)
        : tested(std::move(tested_in)), specified(std::move(specified_in)) {}
    std::int64_t in_features() const override { return tested->in_features(); }
    std::int64_t out_features() const override { return tested->out_features(); }
    WeightFormat format() const override { return tested->format(); }
    std::size_t num_bytes() const override { return tested->num_bytes(); }

    std::shared_ptr<const PackedLinear> tested;
    std::shared_ptr<const PackedLinear> specified;
  };

  std::shared_ptr<const Backend> tested_;
  std::shared_ptr<const Backend> specification_;
  mutable double worst_ = 0.0;
  mutable std::size_t num_products_ = 0;
};

}  // namespace lattice
