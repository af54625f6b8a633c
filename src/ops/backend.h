#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/thread_pool.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/causal_conv1d.h"
#include "ops/embedding_lookup.h"
#include "ops/gated_activation.h"
#include "ops/gated_delta_rule.h"
#include "ops/gated_rms_norm.h"
#include "ops/head_shape.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/pool.h"
#include "ops/qk_norm_rope.h"
#include "ops/rms_norm.h"

namespace lattice {

class Context;

/// A device's implementation of every op. One instance serves all threads; per-call state lives in
/// the Context. The free functions of ops/ops.h check the arguments and then call these; an
/// implementation may assume checked arguments. Only a GPU's may fail: it throws LatticeError, and
/// its inputs are then as they were, so that another backend can compute the op instead.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// "reference", "cpu", ...
  virtual std::string_view name() const = 0;
  /// The instruction set or device in use, for reports: "avx512", "neon", "scalar".
  virtual std::string_view target() const = 0;
  /// Whether there are kernels for a model with these heads. Errors: kUnsupported, saying what does
  /// not fit.
  virtual Result<void> supports(const HeadShape&) const { return {}; }

  /// Repacks a weight. Reads each part once, front to back, and discards the source pages behind
  /// itself, so that memory never holds a weight twice. `parts` are checked (check_linear_parts).
  virtual std::shared_ptr<const PackedLinear> pack_linear(ThreadPool& pool,
                                                          std::span<const LinearPart> parts,
                                                          WeightFormat format) const = 0;

  virtual void linear(Context& context, const LinearArgs& args) const = 0;
  virtual void embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const = 0;
  virtual void layer_norm(Context& context, const LayerNormArgs& args) const = 0;
  virtual void rms_norm(Context& context, const RmsNormArgs& args) const = 0;
  virtual void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const = 0;
  virtual void attention(Context& context, const AttentionArgs& args) const = 0;
  virtual void activation(Context& context, const ActivationArgs& args) const = 0;
  virtual void gated_activation(Context& context, const GatedActivationArgs& args) const = 0;
  virtual void causal_conv1d(Context& context, const CausalConv1dArgs& args) const = 0;
  virtual void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const = 0;
  virtual void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const = 0;
  virtual void pool(Context& context, const PoolArgs& args) const = 0;
  virtual void l2_normalize(Context& context, const L2NormalizeArgs& args) const = 0;
};

}  // namespace lattice
