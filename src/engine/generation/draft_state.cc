#include "engine/generation/draft_state.h"

#include <algorithm>

namespace lattice {

DraftState::DraftState(std::unique_ptr<DecoderState> state, std::size_t hidden_size)
    : state_(std::move(state)), hidden_size_(hidden_size) {}

void DraftState::append(std::size_t position, std::span<const float> rows) {
  if (position < num_tokens()) truncate(position);
  if (position > num_tokens()) {  // tokens in between were computed without the head
    state_->truncate(0);
    pending_.clear();
    first_pending_ = position;
  }
  pending_.insert(pending_.end(), rows.begin(), rows.end());
}

void DraftState::commit(std::size_t count) {
  const auto rows = static_cast<std::ptrdiff_t>(count * hidden_size_);
  pending_.erase(pending_.begin(), pending_.begin() + rows);
  first_pending_ += count;
}

void DraftState::truncate(std::size_t num_tokens) {
  if (num_tokens >= first_pending_) {
    const std::size_t kept = std::min(num_tokens - first_pending_, num_pending());
    pending_.resize(kept * hidden_size_);
    return;
  }
  pending_.clear();
  const auto rows = static_cast<std::int64_t>(first_pending_ - num_tokens);
  state_->truncate(std::max<std::int64_t>(state_->num_tokens() - rows, 0));
  first_pending_ = num_tokens;
}

std::unique_ptr<DraftState> DraftState::copy() const {
  auto copied = std::make_unique<DraftState>(state_->copy(), hidden_size_);
  copied->first_pending_ = first_pending_;
  copied->pending_ = pending_;
  return copied;
}

}  // namespace lattice
