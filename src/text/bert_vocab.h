#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "text/added_tokens.h"
#include "text/tokenizer_impl.h"

namespace lattice {

/// A tokenizer without its added tokens, and those.
struct BertTokenizer {
  std::unique_ptr<TokenizerImpl> tokenizer;
  std::vector<AddedTokens::Listed> added;
};

/// Builds the tokenizer of an old BERT directory from the text of vocab.txt (one token a line, the
/// id is the line's number) and the root of tokenizer_config.json (or JSON null): the pipeline that
/// transformers' BertTokenizerFast makes of them. Read from the configuration: do_lower_case,
/// strip_accents, tokenize_chinese_chars and the special tokens. `source` names vocab.txt. Errors:
/// kMalformed.
Result<BertTokenizer> make_bert_tokenizer(std::string_view vocab_text, const Json& config,
                                          const std::string& source);

}  // namespace lattice
