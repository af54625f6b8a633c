#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/generation/draft_state.h"
#include "engine/loaded_model.h"
#include "layers/linear.h"

namespace lattice {

/// A decoder with the head that turns hidden states into logits. Immutable, thread-safe.
class LanguageModel {
 public:
  /// `head` is [vocab_size, hidden_size]. Throws like Linear.
  LanguageModel(std::shared_ptr<const LoadedModel> model, Tensor head, WeightFormat format);

  const LoadedModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  std::int64_t vocab_size() const { return head_.out_features(); }
  std::size_t hidden_size() const { return static_cast<std::size_t>(head_.in_features()); }
  std::unique_ptr<DecoderState> make_state() const { return model_->body->make_state(); }

  /// One sequence's part of a pass.
  struct Input {
    std::span<const std::int32_t> ids;     ///< at least one, each below vocab_size
    DecoderState* state = nullptr;         ///< of the tokens before them; brought up to date
    std::int64_t num_logits = 0;           ///< of how many of its last tokens
    std::vector<float>* hidden = nullptr;  ///< becomes the last hidden states of all its tokens
  };

  /// Feeds all inputs in one pass; `logits` becomes [sum of num_logits, vocab_size], row-major. A
  /// sequence's bits do not depend on the other sequences, nor on how it is cut into passes.
  /// Returns ContextPool::Lease::other_device().
  std::string_view forward(std::span<const Input> inputs, std::vector<float>& logits) const;

  /// Whether the model's files hold a head that guesses tokens ahead.
  bool has_draft_head() const { return model_->body->draft_head() != nullptr; }
  std::unique_ptr<DraftState> make_draft_state() const;
  /// See DraftHead::forward: `hidden` [ids, hidden_size] in and out, of one sequence.
  void forward_draft_head(std::span<const std::int32_t> ids, DecoderState& state,
                          std::span<float> hidden) const;
  /// The logits [vocab_size] of one token's last hidden state, `hidden` [hidden_size].
  std::vector<float> logits_of(std::span<const float> hidden) const;

 private:
  std::shared_ptr<const LoadedModel> model_;
  Linear head_;
};

}  // namespace lattice
