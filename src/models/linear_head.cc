#include "models/linear_head.h"

#include <vector>

namespace lattice {
namespace {

/// For each sequence the offset of its last token that is not `pad`, or 0.
std::vector<std::int32_t> last_non_pad(const TokenBatch& batch, std::int32_t pad) {
  std::vector<std::int32_t> offsets;
  for (std::int64_t s = 0; s < batch.layout.num_seqs(); ++s) {
    std::int64_t t = batch.layout.length(s) - 1;
    const auto id_at = [&](std::int64_t offset) {
      return batch.input_ids[static_cast<std::size_t>(batch.layout.begin(s) + offset)];
    };
    while (t > 0 && id_at(t) == pad) --t;
    offsets.push_back(static_cast<std::int32_t>(t));
  }
  return offsets;
}

}  // namespace

LinearHead::LinearHead(Parts parts)
    : token_(parts.token),
      pad_token_id_(parts.pad_token_id),
      output_(std::move(parts.output), WeightFormat::kF32) {
  if (parts.dense) dense_.emplace(*std::move(parts.dense), WeightFormat::kF32);
}

void LinearHead::forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
                         MutMatrix logits) const {
  const Workspace::Scope scratch(context.workspace());
  const std::int64_t num_seqs = batch.layout.num_seqs();
  std::vector<std::int32_t> offsets;
  if (token_ == HeadToken::kLastNonPad) offsets = last_non_pad(batch, pad_token_id_);
  MutMatrix x = context.workspace().matrix(num_seqs, hidden.cols);
  // With offsets, the first token that the pool may see is the wanted one.
  pool(context, {.x = hidden,
                 .layout = batch.layout,
                 .skip = offsets,
                 .mode = token_ == HeadToken::kLast ? PoolingMode::kLastToken : PoolingMode::kCls,
                 .out = x});
  if (dense_) {
    const MutMatrix inner = context.workspace().matrix(num_seqs, dense_->out_features());
    dense_->forward(context, x, inner, Activation::kTanh);
    x = inner;
  }
  output_.forward(context, x, logits);
}

LogitDifferenceHead::LogitDifferenceHead(std::vector<LinearPart> output)
    : output_(std::move(output), WeightFormat::kF32) {}

void LogitDifferenceHead::forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
                                  MutMatrix logits) const {
  const Workspace::Scope scratch(context.workspace());
  const std::int64_t num_seqs = batch.layout.num_seqs();
  const MutMatrix x = context.workspace().matrix(num_seqs, hidden.cols);
  pool(context, {.x = hidden, .layout = batch.layout, .mode = PoolingMode::kLastToken, .out = x});
  const MutMatrix both = context.workspace().matrix(num_seqs, output_.out_features());
  output_.forward(context, x, both);
  for (std::int64_t s = 0; s < num_seqs; ++s) {
    const float* row = both.row(s);
    logits.row(s)[0] = both.cols == 2 ? row[0] - row[1] : row[0];
  }
}

}  // namespace lattice
