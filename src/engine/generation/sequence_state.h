#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/generation/draft_state.h"

namespace lattice {

/// A decoder's state together with the tokens that it has seen, and snapshots of it where a
/// recurrent state may have to go back to. One thread at a time.
class SequenceState {
 public:
  explicit SequenceState(std::unique_ptr<DecoderState> state) : state_(std::move(state)) {}

  DecoderState& state() { return *state_; }
  std::size_t num_tokens() const { return ids_.size(); }

  /// A draft head's state, which goes wherever state() goes; nullptr before set_draft() and where
  /// rewind_to() met one whose last pass was given up.
  DraftState* draft() { return draft_.get(); }
  void set_draft(std::unique_ptr<DraftState> draft) { draft_ = std::move(draft); }

  /// Tokens that a pass has fed to state().
  void append(std::span<const std::int32_t> ids) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }

  /// Forgets all but the first `num_tokens` tokens; throws like DecoderState::truncate().
  void truncate(std::size_t num_tokens);

  /// Goes back to a state from which `prompt` can be continued: to the most of its leading tokens
  /// that state and snapshots allow, leaving at least one to compute. `empty` is the state of no
  /// tokens, for when there is nothing in common. Returns how many tokens are kept.
  std::size_t rewind_to(std::span<const std::int32_t> prompt, std::unique_ptr<DecoderState> empty);

  /// Where in a prompt of `length` tokens, of which num_tokens() are known, a snapshot lets the
  /// next prompt branch off near its end; nothing if none is needed there.
  std::optional<std::size_t> snapshot_place(std::size_t length) const;

  /// Keeps a copy of the state as it is now; the oldest one goes when there are too many.
  void take_snapshot();

 private:
  struct Snapshot {
    std::vector<std::int32_t> ids;
    std::unique_ptr<DecoderState> state;
    std::unique_ptr<DraftState> draft;  // or nullptr
  };

  std::unique_ptr<DecoderState> state_;
  std::unique_ptr<DraftState> draft_;
  std::vector<std::int32_t> ids_;
  std::vector<Snapshot> snapshots_;  // by rising number of tokens
};

}  // namespace lattice
