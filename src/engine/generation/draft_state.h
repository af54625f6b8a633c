#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/decoder_state.h"

namespace lattice {

/// What a draft head keeps of a sequence: its own keys and values of the tokens whose followers are
/// known, and the model's hidden states of the tokens after them. One thread at a time.
///
/// Where a text branches off, the last kept row still knows the token that followed it before, and
/// where tokens were computed without the head, it starts anew behind them: both make its guesses a
/// little worse and change nothing else.
class DraftState {
 public:
  DraftState(std::unique_ptr<DecoderState> state, std::size_t hidden_size);

  /// The tokens of the sequence that it covers: those with keys and values, and the pending ones.
  std::size_t num_tokens() const { return first_pending_ + num_pending(); }
  /// The place in the sequence of the first token that has no keys and values yet.
  std::size_t first_pending() const { return first_pending_; }
  std::size_t num_pending() const { return pending_.size() / hidden_size_; }
  /// Hidden states [num_pending, hidden_size].
  std::span<const float> pending() const { return pending_; }
  DecoderState& state() { return *state_; }
  /// False after a pass of the head that was given up.
  bool usable() const { return state_->usable(); }

  /// Hidden states [n, hidden_size] of the tokens at `position` and behind it.
  void append(std::size_t position, std::span<const float> rows);
  /// The first `count` pending tokens have keys and values now, and nothing that came behind them.
  void commit(std::size_t count);
  /// Forgets all tokens from `num_tokens` on.
  void truncate(std::size_t num_tokens);
  std::unique_ptr<DraftState> copy() const;

 private:
  std::unique_ptr<DecoderState> state_;
  std::size_t hidden_size_;
  std::size_t first_pending_ = 0;
  std::vector<float> pending_;
};

}  // namespace lattice
