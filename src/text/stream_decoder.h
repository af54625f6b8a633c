#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lattice/tokenizer.h"
#include "text/token_sink.h"

namespace lattice {

/// Turns ids into text one by one, as they are generated:
///
///   StreamDecoder decoder(tokenizer);
///   for (...) write(decoder.push(id));
///   write(decoder.finish());
///
/// The pieces joined are Tokenizer::decode() of all ids, which is made of them; each piece is valid
/// UTF-8. A piece comes as soon as no further token can change it. Held back are: the bytes of an
/// incomplete character, at most three; with a byte-fallback decoder (<0x41>) a run of byte tokens
/// while it is UTF-8, because one wrong byte turns the whole run into U+FFFD; the last token of a
/// BPEDecoder (CLIP); what a Strip decoder may yet cut off. Every token takes the time of its own
/// text, however long the text before it is.
///
/// Keeps the tokenizer alive. Not thread-safe: one decoder per text.
class StreamDecoder {
 public:
  /// `skip_special_tokens` as in Tokenizer::decode(): added tokens that are not special, such as
  /// <think>, are text.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = true);

  /// The text that is certain now. Throws LatticeError: kInvalidArgument for an id outside the
  /// vocabulary, without effect; kInternal after finish().
  std::string push(std::int32_t id);

  /// The rest of the text: bytes that did not become a character are U+FFFD. Ends the text.
  std::string finish();

 private:
  std::shared_ptr<const TokenizerImpl> tokenizer_;
  bool skip_special_tokens_;
  std::unique_ptr<std::string>
      text_;                         // certain and not yet returned; the sink's last stage fills it
  std::unique_ptr<TokenSink> sink_;  // nullptr after finish()
};

}  // namespace lattice
