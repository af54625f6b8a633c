#pragma once

#include <memory>
#include <span>
#include <vector>

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
  std::unique_ptr<DecoderState> make_state() const { return model_->body->make_state(); }

  /// One sequence's part of a pass.
  struct Input {
    std::span<const std::int32_t> ids;  ///< at least one, each below vocab_size
    DecoderState* state = nullptr;      ///< of the tokens before them; brought up to date
    std::int64_t num_logits = 0;        ///< of how many of its last tokens
  };

  /// Feeds all inputs in one pass; `logits` becomes [sum of num_logits, vocab_size], row-major. A
  /// sequence's bits do not depend on the other sequences, nor on how it is cut into passes.
  void forward(std::span<const Input> inputs, std::vector<float>& logits) const;

 private:
  std::shared_ptr<const LoadedModel> model_;
  Linear head_;
};

}  // namespace lattice
