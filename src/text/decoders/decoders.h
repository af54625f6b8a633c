#pragma once

#include <memory>
#include <string>

#include "text/decoder.h"
#include "text/regex/pattern.h"

namespace lattice {

// The decoders of Hugging Face `tokenizers`, by the names of their "type" and with the fields of
// their JSON. Source: tokenizers/src/decoders and .../pre_tokenizers/{byte_level,metaspace}.rs.

/// Puts a space before every token but the first and those that start with `prefix`, which goes.
std::unique_ptr<TokenDecoder> make_wordpiece_decoder(std::string prefix, bool cleanup);
/// `suffix`, wherever it is in a token, is a space; in the last token it is nothing.
std::unique_ptr<TokenDecoder> make_bpe_decoder(std::string suffix);
/// `replacement` is a space; where `drops_first`, it is nothing in the first token.
std::unique_ptr<TokenDecoder> make_metaspace_decoder(std::string replacement, bool drops_first);
/// Every match of `pattern` in a token is `content`.
std::unique_ptr<TokenDecoder> make_replace_decoder(std::unique_ptr<regex::Pattern> pattern,
                                                   std::string content);
/// A run of equal tokens is one; `pad` is nothing, and with `cleanup` `delimiter` a space.
std::unique_ptr<TokenDecoder> make_ctc_decoder(std::string pad, std::string delimiter,
                                               bool cleanup);
/// Tokens spell bytes in the byte-level alphabet; all of them together are one token of text.
std::unique_ptr<TokenDecoder> make_byte_level_decoder();
/// Tokens such as <0x41> are bytes. A run of them is one token if it is UTF-8, else a U+FFFD for
/// every byte: a run is therefore held back until it ends or turns out not to be UTF-8.
std::unique_ptr<TokenDecoder> make_byte_fallback_decoder();
/// All tokens together are one.
std::unique_ptr<TokenDecoder> make_fuse_decoder();
/// Takes up to `start` characters `content` off a token's beginning and up to `stop` off its end.
std::unique_ptr<TokenDecoder> make_strip_decoder(std::string content, std::size_t start,
                                                 std::size_t stop);

}  // namespace lattice
