#include "engine/generation/sequence_state.h"

#include <algorithm>
#include <optional>

namespace lattice {
namespace {

constexpr std::size_t kMaxSnapshots = 4;
// A chat template's next prompt leaves the last one a few tokens before its end, where the answer's
// generation prompt (an opened think block) was.
constexpr std::int64_t kBranchTokens = 16;

std::unique_ptr<DraftState> copy_of(const std::unique_ptr<DraftState>& draft) {
  return draft ? draft->copy() : nullptr;
}

std::size_t common_length(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  const std::size_t most = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
      a.begin());
}

}  // namespace

void SequenceState::truncate(std::size_t num_tokens) {
  state_->truncate(static_cast<std::int64_t>(num_tokens));
  if (draft_) draft_->truncate(num_tokens);
  ids_.resize(num_tokens);
}

std::size_t SequenceState::rewind_to(std::span<const std::int32_t> prompt,
                                     std::unique_ptr<DecoderState> empty) {
  const auto usable = [&](std::span<const std::int32_t> ids) {
    return std::min(common_length(ids, prompt), prompt.size() - 1);
  };
  const auto reaches = [](const DecoderState& state, std::size_t length) {
    return state.usable() && static_cast<std::int64_t>(length) >= state.rewind_limit();
  };
  // A head that failed in the middle of a pass costs its guesses, not the conversation.
  if (draft_ && !draft_->usable()) draft_.reset();
  const std::size_t own = usable(ids_);
  std::erase_if(snapshots_, [&](const Snapshot& snapshot) {
    return !reaches(*snapshot.state, usable(snapshot.ids));
  });
  if (reaches(*state_, own)) {
    truncate(own);
    return own;
  }
  // The snapshots that are left all lead to the prompt; the longest is the last.
  if (snapshots_.empty()) {
    state_ = std::move(empty);
    if (draft_) draft_->truncate(0);
    ids_.clear();
    return 0;
  }
  const Snapshot& best = snapshots_.back();
  state_ = best.state->copy();
  draft_ = copy_of(best.draft);
  ids_ = best.ids;
  truncate(usable(best.ids));
  return ids_.size();
}

std::optional<std::size_t> SequenceState::snapshot_place(std::size_t length) const {
  if (state_->rewindable()) return std::nullopt;
  const auto last = static_cast<std::int64_t>(length) - 1;
  const std::int64_t chunk = last / kDeltaRuleChunk * kDeltaRuleChunk;
  const auto place = static_cast<std::size_t>(last - chunk >= kBranchTokens ? last : chunk);
  return place > num_tokens() ? std::optional(place) : std::nullopt;
}

void SequenceState::take_snapshot() {
  std::erase_if(snapshots_, [&](const Snapshot& s) { return s.ids.size() >= ids_.size(); });
  snapshots_.push_back({ids_, state_->copy(), copy_of(draft_)});
  if (snapshots_.size() > kMaxSnapshots) snapshots_.erase(snapshots_.begin());
}

}  // namespace lattice
