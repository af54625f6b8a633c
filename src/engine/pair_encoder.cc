#include "engine/pair_encoder.h"

#include <algorithm>

#include "base/check.h"

namespace lattice {

TokenizedText SequencePairEncoder::encode(const TextPair& text, const PairLimits& limits) const {
  const Tokenizer& tokenizer = model_.tokenizer;
  EncodeOptions options;
  options.max_length = limits.max_length;
  options.side =
      limits.truncate == Truncate::kStart ? TruncationSide::kLeft : TruncationSide::kRight;
  Encoding encoding = text.pair ? tokenizer.encode_pair(text.text, *text.pair, options)
                                : tokenizer.encode(text.text, options);
  if (encoding.truncated && limits.truncate == Truncate::kError) {
    raise(ErrorCode::kTooLong,
          "the text has {} tokens, the limit is {} ({}); allow truncation or shorten it",
          encoding.num_tokens_untruncated, limits.max_length, limits.max_length_source);
  }
  if (encoding.ids.empty()) {
    raise(ErrorCode::kInvalidArgument,
          "the text has no tokens and this model adds no special tokens");
  }
  check_token_ids(encoding.ids, model_.body->traits(), ErrorCode::kMalformed);
  if (!tokenizer.uses_type_ids()) std::fill(encoding.type_ids.begin(), encoding.type_ids.end(), 0);
  return {std::move(encoding.ids), std::move(encoding.type_ids), encoding.truncated};
}

}  // namespace lattice
