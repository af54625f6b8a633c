#pragma once

#include <cstdint>
#include <memory>

#include "models/text_model.h"

namespace lattice {

/// The task head of a sequence classifier or reranker: last hidden states in, one row of logits per
/// sequence out. Computed in f32 whatever the body's format. Immutable, thread-safe.
class SequenceHead {
 public:
  SequenceHead() = default;
  SequenceHead(const SequenceHead&) = delete;
  SequenceHead& operator=(const SequenceHead&) = delete;
  virtual ~SequenceHead() = default;

  virtual std::int64_t num_labels() const = 0;

  /// Whether only the last token's hidden state counts, so that earlier tokens may be computed
  /// elsewhere (TokenBatch::prefix).
  virtual bool reads_only_last_token() const { return false; }

  /// hidden [num_tokens, hidden_size] of `batch` -> logits [num_seqs, num_labels].
  virtual void forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
                       MutMatrix logits) const = 0;
};

}  // namespace lattice
