#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace lattice {

/// One `decoder` component of a tokenizer.json, exactly as Hugging Face `tokenizers` runs it.
/// Immutable; thread-safe.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;

  /// Rewrites the list of token texts; the decoded text is their concatenation.
  virtual void decode(std::vector<std::string>& tokens) const = 0;
};

/// Builds the decoder that `json` describes; nullptr for JSON null. `where` names the place for
/// messages. Errors: kUnsupported for an unknown type, kMalformed for wrong fields.
Result<std::unique_ptr<TokenDecoder>> make_decoder(const Json& json, const std::string& where);

/// The WordPiece decoder with default settings, which old BERT directories imply.
std::unique_ptr<TokenDecoder> make_wordpiece_decoder(std::string prefix, bool cleanup);

/// Appends `bytes` to `text`; every maximal part that is not UTF-8 becomes one U+FFFD, as the
/// Unicode Standard recommends (3.9, "U+FFFD Substitution of Maximal Subparts").
void append_utf8_lossy(std::string_view bytes, std::string& text);

/// `text` with every occurrence of `from` replaced; an empty `from` occurs around every character.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace lattice
