#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/json.h"
#include "text/token_sink.h"

namespace lattice {

/// One `decoder` component of a tokenizer.json, exactly as Hugging Face `tokenizers` runs it.
/// Immutable; thread-safe.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;

  /// The decoder at work on one text: takes its tokens and passes the text on to `next`, in parts,
  /// as early as it is certain. Use it no longer than this decoder.
  virtual std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const = 0;
};

/// Builds the decoder that `json` describes; nullptr for JSON null. `where` names the place for
/// messages. Errors: kUnsupported for an unknown type, kMalformed for wrong fields.
Result<std::unique_ptr<TokenDecoder>> make_decoder(const Json& json, const std::string& where);

/// `text` with every occurrence of `from` replaced; an empty `from` occurs around every character.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace lattice
