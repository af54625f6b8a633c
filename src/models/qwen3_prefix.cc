#include "models/qwen3_prefix.h"

#include <algorithm>

namespace lattice {
namespace {

void copy_rows(ConstMatrix from, MutMatrix to) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    std::ranges::copy(from.row_span(r), to.row_span(r).begin());
  }
}

}  // namespace

Qwen3Prefix::Qwen3Prefix(std::int64_t num_tokens, std::int64_t kv_dim, std::int64_t num_layers)
    : num_tokens_(num_tokens), kv_dim_(kv_dim) {
  const auto size = static_cast<std::size_t>(num_tokens * 2 * kv_dim);
  for (std::int64_t i = 0; i < num_layers; ++i) layers_.emplace_back(size);
}

void Qwen3Prefix::store(std::size_t i, ConstMatrix kv) {
  copy_rows(kv, MutMatrix(layers_[i].data(), num_tokens_, 2 * kv_dim_));
}

std::vector<KeysValues> join_prefix(Context& context, ConstMatrix prefix, ConstMatrix kv,
                                    const SequenceLayout& layout) {
  const MutMatrix joined =
      context.workspace().matrix(layout.num_seqs() * prefix.rows + kv.rows, kv.cols);
  const std::int64_t kv_dim = kv.cols / 2;
  std::vector<KeysValues> sequences;
  std::int64_t row = 0;
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    const std::int64_t own = row + prefix.rows;
    const std::int64_t end = own + layout.length(s);
    copy_rows(prefix, joined.rows_between(row, own));
    copy_rows(kv.rows_between(layout.begin(s), layout.end(s)), joined.rows_between(own, end));
    const ConstMatrix all = joined.rows_between(row, end);
    sequences.push_back({all.columns(0, kv_dim), all.columns(kv_dim, kv_dim)});
    row = end;
  }
  return sequences;
}

}  // namespace lattice
