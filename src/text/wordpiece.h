#pragma once

#include <memory>
#include <string>

#include "text/token_model.h"

namespace lattice {

/// What a WordPiece model is made of, apart from its vocabulary.
struct WordPieceConfig {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  /// Longer words, in code points, become one unknown token.
  std::size_t max_input_chars_per_word = 100;
};

/// Greedy longest match from the left; a word with any part that does not match is one unknown
/// token.
/// `where` prefixes messages. Errors: kUnsupported for a vocabulary too large to index.
Result<std::unique_ptr<TokenModel>> make_wordpiece(Vocabulary vocabulary, WordPieceConfig config,
                                                   const std::string& where);

Result<std::unique_ptr<TokenModel>> make_wordpiece(const Json& json, const std::string& where);

}  // namespace lattice
