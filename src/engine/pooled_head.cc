#include "engine/pooled_head.h"

#include <algorithm>

namespace lattice {

void PooledHead::forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
                         MutMatrix logits) const {
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix scores =
      apply_sentence_modules(context, pipeline_, {.x = hidden, .layout = batch.layout, .out = {}},
                             pipeline_.pooling.modes);
  for (std::int64_t s = 0; s < batch.layout.num_seqs(); ++s) {
    std::ranges::copy(scores.row_span(s), logits.row_span(s).begin());
  }
}

}  // namespace lattice
