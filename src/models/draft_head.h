#pragma once

#include <memory>

#include "models/text_model.h"

namespace lattice {

/// A small decoder behind a decoder, which predicts the token after the next one (multi-token
/// prediction): from the decoder's last hidden state of a token and the token that follows it.
/// Immutable and thread-safe; one Context per concurrent call.
/// Source: DeepSeek-AI 2024, arXiv:2412.19437, section 2.2.
class DraftHead {
 public:
  DraftHead() = default;
  DraftHead(const DraftHead&) = delete;
  DraftHead& operator=(const DraftHead&) = delete;
  virtual ~DraftHead() = default;

  /// The head's own state of a sequence without tokens.
  virtual std::unique_ptr<DecoderState> make_state() const = 0;

  /// hidden [num_tokens, hidden_size]: in, the decoder's last hidden states; out, the states whose
  /// logits predict what follows batch.input_ids, which are the tokens behind those of `hidden`.
  /// Positions count from the head's first row, since only their differences matter.
  virtual void forward(Context& context, const TokenBatch& batch, MutMatrix hidden) const = 0;
};

}  // namespace lattice
