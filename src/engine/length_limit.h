#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lattice {

/// The most tokens a text may have, special tokens included, and the rule that set it.
struct LengthLimit {
  std::int64_t max_tokens = 0;
  std::string source;
};

/// The candidates, each absent when its file does not say.
struct LengthLimitInputs {
  std::optional<std::int64_t> max_seq_length =
      std::nullopt;                        ///< of the Transformer module's config
  std::string max_seq_length_source = "";  ///< that file's name
  std::optional<std::int64_t> model_max_length = std::nullopt;  ///< tokenizer_config.json
  std::int64_t max_positions = 0;                               ///< of the model; 0 = unlimited
  /// Whether max_seq_length cannot exceed max_positions.
  bool positions_are_hard_limit = true;
};

/// max_seq_length if given, else min(model_max_length, max_positions); never more than a hard limit
/// of positions. tokenizer.json's own truncation setting has no say.
/// Source: sentence-transformers, Transformer module.
LengthLimit resolve_length_limit(const LengthLimitInputs& inputs);

}  // namespace lattice
