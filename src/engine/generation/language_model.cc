#include "engine/generation/language_model.h"

#include <algorithm>

#include "models/draft_head.h"

namespace lattice {
namespace {

std::int64_t length_after(const DecoderState& state, std::size_t num_more) {
  return state.num_tokens() + static_cast<std::int64_t>(num_more);
}

}  // namespace

LanguageModel::LanguageModel(std::shared_ptr<const LoadedModel> model, Tensor head,
                             WeightFormat format)
    : model_(std::move(model)), head_(LinearPart{.weight = std::move(head)}, format) {}

std::string_view LanguageModel::forward(std::span<const Input> inputs,
                                        std::vector<float>& logits) const {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> cu_seqlens = {0};
  std::vector<DecoderState*> states;
  std::int64_t num_rows = 0;
  std::int64_t longest = 0;
  for (const Input& input : inputs) {
    ids.insert(ids.end(), input.ids.begin(), input.ids.end());
    cu_seqlens.push_back(static_cast<std::int32_t>(ids.size()));
    states.push_back(input.state);
    num_rows += input.num_logits;
    longest = std::max(longest, length_after(*input.state, input.ids.size()));
  }
  ContextPool::Lease lease(*model_->contexts, longest);
  Context& context = *lease;
  const Workspace::Scope scratch(context.workspace());
  const std::int64_t hidden_size = head_.in_features();
  const MutMatrix hidden =
      context.workspace().matrix(static_cast<std::int64_t>(ids.size()), hidden_size);
  const TokenBatch batch{
      .input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}, .states = states};
  model_->body->forward(context, batch, hidden);
  const MutMatrix rows = context.workspace().matrix(num_rows, hidden_size);
  std::int64_t row = 0;
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    const std::int64_t end = cu_seqlens[s + 1];
    if (inputs[s].hidden != nullptr) {
      inputs[s].hidden->clear();
      for (std::int64_t r = cu_seqlens[s]; r < end; ++r) {
        const auto values = hidden.row_span(r);
        inputs[s].hidden->insert(inputs[s].hidden->end(), values.begin(), values.end());
      }
    }
    for (std::int64_t r = end - inputs[s].num_logits; r < end; ++r) {
      std::ranges::copy(hidden.row_span(r), rows.row(row++));
    }
  }
  logits.resize(static_cast<std::size_t>(num_rows * vocab_size()));
  if (num_rows > 0) {
    head_.forward(context, rows, MutMatrix(logits.data(), num_rows, vocab_size()));
  }
  return lease.other_device();
}

std::unique_ptr<DraftState> LanguageModel::make_draft_state() const {
  return std::make_unique<DraftState>(model_->body->draft_head()->make_state(), hidden_size());
}

void LanguageModel::forward_draft_head(std::span<const std::int32_t> ids, DecoderState& state,
                                       std::span<float> hidden) const {
  ContextPool::Lease lease(*model_->contexts, length_after(state, ids.size()));
  const std::int32_t cu_seqlens[] = {0, static_cast<std::int32_t>(ids.size())};
  DecoderState* const states[] = {&state};
  const TokenBatch batch{
      .input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}, .states = states};
  const auto rows = static_cast<std::int64_t>(ids.size());
  model_->body->draft_head()->forward(*lease, batch,
                                      MutMatrix(hidden.data(), rows, head_.in_features()));
}

std::vector<float> LanguageModel::logits_of(std::span<const float> hidden) const {
  ContextPool::Lease lease(*model_->contexts, 1);
  std::vector<float> logits(static_cast<std::size_t>(vocab_size()));
  head_.forward(*lease, ConstMatrix(hidden.data(), 1, head_.in_features()),
                MutMatrix(logits.data(), 1, vocab_size()));
  return logits;
}

}  // namespace lattice
