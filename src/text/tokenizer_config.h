#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "text/added_tokens.h"
#include "text/tokenizer_impl.h"

namespace lattice {

/// The settings of the BertNormalizer that transformers' BertTokenizer makes.
struct BertNormalizerFlags {
  bool lowercase = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;

  bool operator==(const BertNormalizerFlags&) const = default;
  /// As a "normalizer" of a tokenizer.json.
  std::string to_json() const;
};

/// do_lower_case, tokenize_chinese_chars and strip_accents of a tokenizer_config.json. Errors:
/// kMalformed.
Result<BertNormalizerFlags> read_bert_flags(const Json& config, const std::string& source);

/// What transformers does to a tokenizer.json that belongs to its BertTokenizer class: the flags of
/// tokenizer_config.json (or their defaults) replace those of the file's BertNormalizer. nullopt
/// where nothing changes: another class, another normalizer, or the same flags. Logs a warning
/// otherwise. `source` names tokenizer_config.json.
Result<std::optional<BertNormalizerFlags>> find_bert_override(const Json& normalizer,
                                                              const Json& config,
                                                              const std::string& source);

/// The tokens that tokenizer_config.json adds to those of tokenizer.json, in the order in which
/// transformers adds them: added_tokens_decoder, then the named special tokens and the extra ones
/// that are not among `known`. Errors: kMalformed.
Result<std::vector<AddedTokens::Listed>> read_config_tokens(
    const Json& config, const std::vector<AddedTokens::Listed>& known, const std::string& source);

/// Fills special_ids (those still unknown), from a tokenizer_config.json or
/// special_tokens_map.json.
void read_special_ids(const Json& config, TokenizerImpl& tokenizer);

/// Fills model_max_length and uses_type_ids. Errors: kMalformed.
Result<void> read_model_limits(const Json& config, const std::string& source,
                               TokenizerImpl& tokenizer);

}  // namespace lattice
