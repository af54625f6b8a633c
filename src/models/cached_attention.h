#pragma once

#include "models/text_model.h"

namespace lattice {

/// Attention of layer `layer`, each sequence over its state's keys and values, to which its own
/// rows of `kv` [num_tokens, 2 * kv_dim] are added first; without states over its own rows. `args`
/// lacks k, v, layout and sequences only.
void cached_attention(Context& context, const TokenBatch& batch, std::size_t layer, ConstMatrix kv,
                      AttentionArgs args);

}  // namespace lattice
