#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lattice/tokenizer.h"
#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"
#include "text/truncation.h"

namespace lattice {

/// The parts of a tokenizer, in the order in which a text passes through them. Immutable once
/// loaded.
struct TokenizerImpl {
  std::unique_ptr<Normalizer> normalizer;       // nullptr: none
  std::unique_ptr<PreTokenizer> pre_tokenizer;  // nullptr: none
  std::unique_ptr<TokenModel> model;            // never nullptr
  AddedTokens added_tokens;
  PostProcessor post_processor;
  std::unique_ptr<TokenDecoder> decoder;  // nullptr: tokens joined by spaces
  std::optional<FileTruncation> truncation;

  SpecialTokenIds special_ids;
  std::optional<std::size_t> model_max_length;
  bool uses_type_ids = true;
  std::size_t id_bound = 0;
  std::string fingerprint;

  std::optional<std::int32_t> token_to_id(std::string_view token) const {
    if (const auto id = added_tokens.find(token)) return id;
    return model->vocabulary().find(token);
  }
  std::optional<std::string_view> id_to_token(std::int32_t id) const {
    if (const auto token = added_tokens.token(id)) return token;
    return model->vocabulary().token(id);
  }
};

/// Loads the tokenizer of a model directory. Errors as Tokenizer::from_directory().
Result<std::shared_ptr<const TokenizerImpl>> load_tokenizer(const std::filesystem::path& directory,
                                                            const TokenizerOptions& options);

/// Builds a tokenizer from the text of a tokenizer.json alone.
Result<std::shared_ptr<const TokenizerImpl>> parse_tokenizer(std::string_view json,
                                                             const std::string& source);

/// The tokens of one text, before truncation and special tokens.
struct SequenceTokens {
  /// White space (or byte-level spaces) at the ends of an added token's text, in characters.
  struct AddedSpaces {
    std::size_t token;  // index
    std::size_t leading, trailing;
  };
  bool with_offsets = false;
  std::vector<std::int32_t> ids;
  std::vector<ByteRange> offsets;  // of the original text; filled when with_offsets
  std::vector<AddedSpaces> added;  // likewise, one for each added token
};

/// Byte ranges [begin, end), sorted and disjoint.
using LiteralSpans = std::vector<std::pair<std::size_t, std::size_t>>;

/// Runs normalizer, pre-tokenizer and model over `text`; added tokens that overlap one of
/// `literals` are not looked for. Throws LatticeError(kInvalidArgument) for invalid UTF-8.
SequenceTokens encode_sequence(const TokenizerImpl& tokenizer, std::string_view text,
                               bool with_offsets, const LiteralSpans& literals = {});

/// Spaces at the ends of `token` as trimming counts them: U+0120 and white space, in characters.
SequenceTokens::AddedSpaces count_spaces(std::string_view token);

}  // namespace lattice
