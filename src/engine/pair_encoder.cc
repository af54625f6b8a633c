#include "engine/pair_encoder.h"

#include "base/check.h"

namespace lattice {

TokenizedText SequencePairEncoder::encode(const TextPair& text, const PairRequest& request) const {
  if (request.instruction) {
    raise(ErrorCode::kInvalidArgument, "instruction: this model takes none");
  }
  const Tokenizer& tokenizer = model_.tokenizer;
  const EncodeOptions options = encode_options(request.max_length, request.truncate);
  const std::string first = prompt_ + text.text;
  Encoding encoding = text.pair ? tokenizer.encode_pair(first, *text.pair, options)
                                : tokenizer.encode(first, options);
  if (encoding.truncated && request.truncate == Truncate::kError) {
    raise_too_long(encoding.num_tokens_untruncated, request.max_length, request.max_length_source);
  }
  return to_model_input(model_, std::move(encoding));
}

}  // namespace lattice
