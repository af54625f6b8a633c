#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "io/json.h"
#include "lattice/tokenizer.h"
#include "text/token_span.h"

namespace lattice {

/// The "truncation" of a tokenizer.json.
struct FileTruncation {
  std::size_t max_length = 0;
  TruncationSide side = TruncationSide::kRight;
  TruncationStrategy strategy = TruncationStrategy::kLongestFirst;
};

/// Reads it; nullopt for JSON null. Errors: kMalformed.
Result<std::optional<FileTruncation>> parse_truncation(const Json& json, const std::string& where);

/// Which tokens of one or two sequences survive.
struct KeptTokens {
  ByteRange first;  // token ranges
  ByteRange second;
  bool truncated = false;
};

/// Shortens sequences of `num_first` and (in a pair) `num_second` tokens to `max_tokens` in all, as
/// the Hugging Face library does. Throws LatticeError: kInvalidArgument for kOnlySecond without a
/// second text, kTooLong when the chosen sequence would not keep a token.
KeptTokens truncate_tokens(std::size_t num_first, std::optional<std::size_t> num_second,
                           std::optional<std::size_t> max_tokens, TruncationSide side,
                           TruncationStrategy strategy);

}  // namespace lattice
