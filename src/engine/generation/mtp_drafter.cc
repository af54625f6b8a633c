#include "engine/generation/mtp_drafter.h"

#include <algorithm>

namespace lattice {
namespace {

std::int32_t likeliest(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

}  // namespace

MtpDrafter::MtpDrafter(const LanguageModel& model, DraftState& state, std::size_t known_tokens)
    : model_(model), state_(state), next_hidden_(known_tokens) {
  state_.truncate(known_tokens);
}

void MtpDrafter::accept(std::span<const std::int32_t> ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
}

void MtpDrafter::accept_hidden(std::span<const float> rows) {
  state_.append(next_hidden_, rows);
  next_hidden_ = state_.num_tokens();
  // The parts of a long prompt are not kept for its end.
  constexpr std::size_t kMaxPending = 64;
  if (state_.num_pending() > kMaxPending) feed();
}

std::vector<float> MtpDrafter::feed() {
  const std::size_t begin = state_.first_pending();
  const std::size_t count = std::min(state_.num_pending(), ids_.size() - 1 - begin);
  const std::size_t hidden_size = model_.hidden_size();
  const auto pending = state_.pending().first(count * hidden_size);
  std::vector<float> hidden(pending.begin(), pending.end());
  if (count == 0) return hidden;
  model_.forward_draft_head(std::span(ids_).subspan(begin + 1, count), state_.state(), hidden);
  state_.commit(count);
  return {hidden.end() - static_cast<std::ptrdiff_t>(hidden_size), hidden.end()};
}

std::vector<std::int32_t> MtpDrafter::propose(std::size_t max_tokens) {
  std::vector<std::int32_t> drafts;
  if (max_tokens == 0) return drafts;
  std::vector<float> hidden = feed();
  if (hidden.empty()) return drafts;
  const std::int64_t known = state_.state().num_tokens();
  drafts.push_back(likeliest(model_.logits_of(hidden)));
  while (drafts.size() < max_tokens) {
    model_.forward_draft_head(std::span(drafts).last(1), state_.state(), hidden);
    drafts.push_back(likeliest(model_.logits_of(hidden)));
  }
  state_.state().truncate(known);
  return drafts;
}

}  // namespace lattice
