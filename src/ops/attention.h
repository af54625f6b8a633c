#pragma once

#include <span>

#include "ops/keys_values.h"
#include "ops/matrix.h"
#include "ops/sequence_layout.h"

namespace lattice {

/// Scaled dot-product attention inside each sequence of a packed batch:
/// out_h = softmax(scale q_h k_g^T [+ mask]) v_g, with g = h / (num_heads / num_kv_heads). With
/// `causal`, token i sees the tokens up to itself; a `window` keeps of those the last `window`.
///
/// Head h of q lies in columns [h * head_dim, (h + 1) * head_dim); likewise k, v with KV heads. The
/// views may be column ranges of one fused QKV matrix. The softmax is in f32 or better and never
/// materialises the whole score matrix. A sequence's bits depend on that sequence alone. `out` must
/// not alias the inputs. Source: Vaswani et al. 2017; online softmax: Milakov & Gimelshein 2018.
struct AttentionArgs {
  ConstMatrix q;  ///< [num_tokens, num_heads * head_dim]
  ConstMatrix k;  ///< [num_tokens, num_kv_heads * head_dim]
  ConstMatrix v;  ///< [num_tokens, num_kv_heads * head_dim]
  MutMatrix out;  ///< [num_tokens, num_heads * head_dim]
  SequenceLayout layout;
  /// Empty, or per sequence what it attends to instead of its rows of k and v; its queries are the
  /// last tokens of these.
  std::span<const KeysValues> sequences = {};
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  float scale = 1.0f;
  bool causal = false;
  std::int64_t window = 0;  ///< 0: no window; else causal is true

  /// What sequence `s` attends to.
  KeysValues keys_values(std::int64_t s) const {
    if (!sequences.empty()) return sequences[static_cast<std::size_t>(s)];
    return {k.rows_between(layout.begin(s), layout.end(s)),
            v.rows_between(layout.begin(s), layout.end(s)), head_dim};
  }
};

}  // namespace lattice
