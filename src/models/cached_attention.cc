#include "models/cached_attention.h"

#include <vector>

namespace lattice {

void cached_attention(Context& context, const TokenBatch& batch, std::size_t layer, ConstMatrix kv,
                      AttentionArgs args) {
  const std::int64_t kv_dim = kv.cols / 2;
  args.k = kv.columns(0, kv_dim);
  args.v = kv.columns(kv_dim, kv_dim);
  args.layout = batch.layout;
  std::vector<KeysValues> sequences;
  for (std::size_t s = 0; s < batch.states.size(); ++s) {
    const auto seq = static_cast<std::int64_t>(s);
    KvCache& cache = batch.states[s]->attention(layer);
    const std::int64_t earlier = batch.num_earlier_tokens(seq);
    cache.write(earlier, kv.rows_between(batch.layout.begin(seq), batch.layout.end(seq)));
    sequences.push_back(cache.view(earlier + batch.layout.length(seq)));
  }
  args.sequences = sequences;
  attention(context, args);
}

}  // namespace lattice
