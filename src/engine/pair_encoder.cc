#include "engine/pair_encoder.h"

#include <algorithm>

#include "base/check.h"

namespace lattice {

void raise_too_long(std::size_t num_tokens, const PairRequest& request) {
  raise(ErrorCode::kTooLong,
        "the text has {} tokens, the limit is {} ({}); allow truncation or shorten it", num_tokens,
        request.max_length, request.max_length_source);
}

TokenizedText SequencePairEncoder::encode(const TextPair& text, const PairRequest& request) const {
  if (request.instruction) {
    raise(ErrorCode::kInvalidArgument, "instruction: this model takes none");
  }
  const Tokenizer& tokenizer = model_.tokenizer;
  EncodeOptions options;
  options.max_length = request.max_length;
  options.side =
      request.truncate == Truncate::kStart ? TruncationSide::kLeft : TruncationSide::kRight;
  const std::string first = prompt_ + text.text;
  Encoding encoding = text.pair ? tokenizer.encode_pair(first, *text.pair, options)
                                : tokenizer.encode(first, options);
  if (encoding.truncated && request.truncate == Truncate::kError) {
    raise_too_long(encoding.num_tokens_untruncated, request);
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
