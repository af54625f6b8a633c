#pragma once

#include "engine/generation/draft_state.h"
#include "engine/generation/drafter.h"
#include "engine/generation/language_model.h"

namespace lattice {

/// Guesses by the model's own multi-token prediction head. The first guess costs the head's one
/// layer and the logits of one token; each further one, made from the head's own output in place of
/// the model's, the same again and is less often right.
class MtpDrafter final : public Drafter {
 public:
  /// `model` has a draft head. `state` covers at most the first `known_tokens` tokens of the
  /// sequence, whose hidden states will not be given.
  MtpDrafter(const LanguageModel& model, DraftState& state, std::size_t known_tokens);

  void accept(std::span<const std::int32_t> ids) override;
  bool wants_hidden() const override { return true; }
  void accept_hidden(std::span<const float> rows) override;
  std::vector<std::int32_t> propose(std::size_t max_tokens) override;

 private:
  /// Feeds the pending tokens whose followers are known; the head's output for the last of them.
  std::vector<float> feed();

  const LanguageModel& model_;
  DraftState& state_;
  std::size_t next_hidden_;  // the place of the next token whose hidden state is given
  std::vector<std::int32_t> ids_;
};

}  // namespace lattice
