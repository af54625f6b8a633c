#include "engine/scorer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "engine/batcher.h"

namespace lattice {

PairRequest Scorer::request(const ScoreOptions& options) const {
  const auto most = static_cast<std::size_t>(limit().max_tokens);
  PairRequest request{.max_length = most,
                      .max_length_source = limit().source,
                      .truncate = options.truncate,
                      .instruction = options.instruction};
  if (!options.max_length) return request;
  const std::size_t least = encoder().num_added_tokens() + 2;
  if (*options.max_length < least || *options.max_length > most) {
    raise(ErrorCode::kInvalidArgument, "max_length: expected {}..{} ({}), got {}", least, most,
          limit().source, *options.max_length);
  }
  request.max_length = *options.max_length;
  request.max_length_source = "max_length";
  return request;
}

std::vector<float> Scorer::score(std::span<const TextPair> texts, const ScoreOptions& options,
                                 std::span<TextReport> reports) const {
  const PairRequest request = this->request(options);
  const std::vector<TokenizedText> tokenized =
      prepare_texts(model().contexts->threads(), reports, options.skip_errors,
                    [&](std::size_t i) { return encoder().encode(texts[i], request); });
  return score_tokenized(tokenized, options.batch_tokens, reports);
}

std::vector<float> Scorer::score_tokenized(std::span<const TokenizedText> texts,
                                           std::size_t batch_tokens,
                                           std::span<TextReport> reports) const {
  const std::size_t shared = shareable_tokens(texts);
  if (shared == 0) return score_unshared(texts, batch_tokens, reports);
  const auto with_tokens =
      std::ranges::find_if(texts, [](const TokenizedText& text) { return !text.ids.empty(); });
  const std::unique_ptr<DecoderState> prefix = model().body->make_state();
  const std::string_view other_device =
      compute_prefix(std::span(with_tokens->ids).first(shared), *prefix);
  std::vector<float> logits = score_behind(prefix.get(), texts, batch_tokens, reports);
  for (std::size_t i = 0; !other_device.empty() && i < reports.size(); ++i) {
    if (!texts[i].ids.empty()) reports[i].other_device = other_device;
  }
  return logits;
}

std::vector<float> Scorer::score_unshared(std::span<const TokenizedText> texts,
                                          std::size_t batch_tokens,
                                          std::span<TextReport> reports) const {
  return score_behind(nullptr, texts, batch_tokens, reports);
}

std::size_t Scorer::shareable_tokens(std::span<const TokenizedText> texts) const {
  if (texts.size() < 2 || !parts_.head->reads_only_last_token()) return 0;
  const std::vector<std::size_t> counts = token_counts(texts);
  const std::size_t longest = *std::ranges::max_element(counts);
  if (!model().body->can_continue(static_cast<std::int64_t>(longest))) return 0;
  constexpr std::size_t kWorthIt = 8;
  const std::size_t shared = common_prefix(texts);
  return shared < kWorthIt ? 0 : shared;
}

std::vector<float> Scorer::score_behind(const DecoderState* prefix,
                                        std::span<const TokenizedText> texts,
                                        std::size_t batch_tokens,
                                        std::span<TextReport> reports) const {
  std::vector<float> logits(texts.size() * static_cast<std::size_t>(num_labels()), 0.0f);
  // A shared token costs its keys and values, once a layer, for each text.
  constexpr std::size_t kShareOfAToken = 4;
  const auto shared = prefix == nullptr ? 0 : static_cast<std::size_t>(prefix->num_tokens());
  const auto cost_of = [&](std::size_t num_tokens) {
    return num_tokens < shared ? 0 : num_tokens - shared + shared / kShareOfAToken;
  };
  std::vector<std::size_t> costs = token_counts(texts);
  for (std::size_t& cost : costs) cost = cost == 0 ? 0 : cost_of(cost);
  const auto max_gpu_tokens = static_cast<std::size_t>(model().contexts->max_gpu_tokens());
  for (const auto& batch :
       make_batches(costs, std::max<std::size_t>(batch_tokens, 1), cost_of(max_gpu_tokens))) {
    const std::string_view other_device = compute_batch(prefix, batch, texts, logits);
    if (reports.empty()) continue;
    for (const std::size_t i : batch) reports[i].other_device = other_device;
  }
  return logits;
}

std::string_view Scorer::compute_prefix(std::span<const std::int32_t> ids,
                                        DecoderState& state) const {
  ContextPool::Lease lease(*model().contexts, static_cast<std::int64_t>(ids.size()));
  Context& context = *lease;
  const Workspace::Scope scratch(context.workspace());
  const auto num_tokens = static_cast<std::int64_t>(ids.size());
  const std::int32_t cu_seqlens[] = {0, static_cast<std::int32_t>(num_tokens)};
  DecoderState* const states[] = {&state};
  model().body->forward(
      context, {.input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}, .states = states},
      context.workspace().matrix(num_tokens, model().body->traits().hidden_size));
  return lease.other_device();
}

std::string_view Scorer::compute_batch(const DecoderState* prefix,
                                       std::span<const std::size_t> batch,
                                       std::span<const TokenizedText> texts,
                                       std::span<float> logits) const {
  const PackedTexts packed(batch, texts,
                           prefix != nullptr ? static_cast<std::size_t>(prefix->num_tokens()) : 0);
  TokenBatch tokens = packed.tokens();
  std::vector<std::unique_ptr<DecoderState>> copies;
  std::vector<DecoderState*> states;
  for (std::size_t s = 0; prefix != nullptr && s < batch.size(); ++s) {
    copies.push_back(prefix->copy());
    states.push_back(copies.back().get());
  }
  tokens.states = states;
  ContextPool::Lease lease(*model().contexts, longest(batch, texts));
  Context& context = *lease;
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix hidden =
      context.workspace().matrix(tokens.layout.num_tokens(), model().body->traits().hidden_size);
  model().body->forward(context, tokens, hidden);
  const MutMatrix rows = context.workspace().matrix(tokens.layout.num_seqs(), num_labels());
  parts_.head->forward(context, tokens, hidden, rows);
  const auto width = static_cast<std::size_t>(num_labels());
  for (std::size_t s = 0; s < batch.size(); ++s) {
    const auto row = rows.row_span(static_cast<std::int64_t>(s));
    // A NaN is reported, never handed on as a score.
    check(std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); }),
          "text {}: the model computed a value that is not finite", batch[s]);
    std::copy(row.begin(), row.end(), logits.subspan(batch[s] * width, width).begin());
  }
  return lease.other_device();
}

}  // namespace lattice
