#include "engine/scorer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "engine/batcher.h"

namespace lattice {

Scorer::Scorer(std::shared_ptr<const LoadedModel> model, std::unique_ptr<const PairEncoder> encoder,
               std::unique_ptr<const SequenceHead> head, LabelConfig labels)
    : model_(std::move(model)),
      encoder_(std::move(encoder)),
      head_(std::move(head)),
      labels_(std::move(labels)) {}

PairLimits Scorer::limits(const ScoreOptions& options) const {
  const auto most = static_cast<std::size_t>(model_->limit.max_tokens);
  PairLimits limits{
      .max_length = most, .max_length_source = model_->limit.source, .truncate = options.truncate};
  if (!options.max_length) return limits;
  const std::size_t least = encoder_->num_added_tokens() + 2;
  if (*options.max_length < least || *options.max_length > most) {
    raise(ErrorCode::kInvalidArgument, "max_length: expected {}..{} ({}), got {}", least, most,
          model_->limit.source, *options.max_length);
  }
  limits.max_length = *options.max_length;
  limits.max_length_source = "max_length";
  return limits;
}

std::vector<float> Scorer::score(std::span<const TextPair> texts, const ScoreOptions& options,
                                 std::span<TextReport> reports) const {
  const PairLimits limits = this->limits(options);
  const std::vector<TokenizedText> tokenized =
      prepare_texts(model_->contexts->threads(), reports, options.skip_errors,
                    [&](std::size_t i) { return encoder_->encode(texts[i], limits); });
  return score_tokenized(tokenized, options.batch_tokens);
}

std::vector<float> Scorer::score_tokenized(std::span<const TokenizedText> texts,
                                           std::size_t batch_tokens) const {
  std::vector<float> logits(texts.size() * static_cast<std::size_t>(num_labels()), 0.0f);
  for (const auto& batch :
       make_batches(token_counts(texts), std::max<std::size_t>(batch_tokens, 1))) {
    compute_batch(batch, texts, logits);
  }
  return logits;
}

void Scorer::compute_batch(std::span<const std::size_t> batch, std::span<const TokenizedText> texts,
                           std::span<float> logits) const {
  const PackedTexts packed(batch, texts);
  const SequenceLayout layout = packed.layout();
  ContextPool::Lease lease(*model_->contexts);
  Context& context = *lease;
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix hidden =
      context.workspace().matrix(layout.num_tokens(), model_->body->traits().hidden_size);
  model_->body->forward(context, packed.tokens(), hidden);
  const MutMatrix rows = context.workspace().matrix(layout.num_seqs(), num_labels());
  head_->forward(context, packed.tokens(), hidden, rows);
  const auto width = static_cast<std::size_t>(num_labels());
  for (std::size_t s = 0; s < batch.size(); ++s) {
    const auto row = rows.row_span(static_cast<std::int64_t>(s));
    // A NaN is reported, never handed on as a score.
    check(std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); }),
          "text {}: the model computed a value that is not finite", batch[s]);
    std::copy(row.begin(), row.end(), logits.subspan(batch[s] * width, width).begin());
  }
}

}  // namespace lattice
