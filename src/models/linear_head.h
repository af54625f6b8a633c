#pragma once

#include <optional>
#include <vector>

#include "layers/linear.h"
#include "models/sequence_head.h"

namespace lattice {

/// The token whose hidden state a head reads.
enum class HeadToken {
  kFirst,      ///< [CLS], <s>
  kLast,       ///< the last one
  kLastNonPad  ///< the last one whose id is not pad_token_id; the first one if there is none
};

/// logits = output(x), or output(tanh(dense(x))), of one token's hidden state x.
class LinearHead final : public SequenceHead {
 public:
  struct Parts {
    HeadToken token = HeadToken::kFirst;
    std::int32_t pad_token_id = -1;                  ///< for kLastNonPad
    std::optional<LinearPart> dense = std::nullopt;  ///< [hidden, hidden]
    LinearPart output;                               ///< [num_labels, hidden]
  };
  explicit LinearHead(Parts parts);

  std::int64_t num_labels() const override { return output_.out_features(); }
  bool reads_only_last_token() const override { return token_ == HeadToken::kLast; }
  void forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
               MutMatrix logits) const override;

 private:
  HeadToken token_;
  std::int32_t pad_token_id_;
  std::optional<Linear> dense_;
  Linear output_;
};

/// One logit per sequence, of the last token: x . output[0], minus x . output[1] if there is a
/// second row (a language model's "yes" and "no").
class LogitDifferenceHead final : public SequenceHead {
 public:
  /// The rows of `output`: one or two of [1, hidden].
  explicit LogitDifferenceHead(std::vector<LinearPart> output);

  std::int64_t num_labels() const override { return 1; }
  bool reads_only_last_token() const override { return true; }
  void forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
               MutMatrix logits) const override;

 private:
  Linear output_;
};

}  // namespace lattice
