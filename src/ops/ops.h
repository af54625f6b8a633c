#pragma once

#include <span>

#include "ops/backend.h"
#include "ops/context.h"

namespace lattice {

// The entry points that layers use: each checks its arguments (kInternal for shapes, since shapes
// come from our code; ids are checked where a request enters) and calls the context's backend.

/// Throws kMalformed unless the parts are non-empty 2-D floating-point weights that share K, with
/// biases of matching length.
void check_linear_parts(std::span<const LinearPart> parts);

void linear(Context& context, const LinearArgs& args);
void embedding_lookup(Context& context, const EmbeddingLookupArgs& args);
void layer_norm(Context& context, const LayerNormArgs& args);
void rms_norm(Context& context, const RmsNormArgs& args);
void qk_norm_rope(Context& context, const QkNormRopeArgs& args);
void attention(Context& context, const AttentionArgs& args);
void activation(Context& context, const ActivationArgs& args);
void gated_activation(Context& context, const GatedActivationArgs& args);
void causal_conv1d(Context& context, const CausalConv1dArgs& args);
void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args);
void gated_rms_norm(Context& context, const GatedRmsNormArgs& args);
void pool(Context& context, const PoolArgs& args);
void l2_normalize(Context& context, const L2NormalizeArgs& args);

}  // namespace lattice
