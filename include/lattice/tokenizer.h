#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lattice/error.h"

namespace lattice {

/// Which end of a sequence truncation removes.
enum class TruncationSide {
  kRight,  ///< keep the beginning
  kLeft,   ///< keep the end
};

/// Which of two sequences truncation shortens.
enum class TruncationStrategy {
  kLongestFirst,  ///< the longer one; both, evenly, when that is not enough
  kOnlyFirst,     ///< only the first; an error when it is too short for that
  kOnlySecond,    ///< only the second; an error when it is too short or there is none
};

/// How to encode. The default adds special tokens and never truncates.
struct EncodeOptions {
  /// Add what the post-processor adds ([CLS], [SEP], <|endoftext|>, ...).
  bool add_special_tokens = true;
  /// The most tokens to return, special tokens included; nullopt: no limit. Special tokens are
  /// never cut: the text is shortened to leave room for them.
  std::optional<std::size_t> max_length = std::nullopt;
  TruncationSide side = TruncationSide::kRight;
  TruncationStrategy strategy = TruncationStrategy::kLongestFirst;
  /// Take max_length, side and strategy from the "truncation" of tokenizer.json instead, where it
  /// has one.
  bool use_file_truncation = false;
  /// Fill Encoding::offsets.
  bool with_offsets = false;
  /// Byte ranges [begin, end) of the text in which no added token is looked for, sorted and
  /// disjoint: what a user wrote between a chat template's own tokens.
  std::vector<std::pair<std::size_t, std::size_t>> literal_spans = {};
};

/// The tokens of one text or pair. All vectors have one entry per token.
struct Encoding {
  std::vector<std::int32_t> ids;
  /// 0 or 1 in a pair for most models; whatever the post-processor says.
  std::vector<std::int32_t> type_ids;
  /// [begin, end) in bytes of the original text (of the text that the token came from, in a pair);
  /// (0, 0) for tokens that the post-processor added. Empty unless asked for.
  std::vector<std::pair<std::size_t, std::size_t>> offsets;
  /// 1 for tokens that the post-processor added.
  std::vector<std::uint8_t> special_tokens_mask;
  /// Whether tokens were removed to honour max_length.
  bool truncated = false;
  /// ids.size() as it would have been without truncation.
  std::size_t num_tokens_untruncated = 0;
};

/// The ids of the tokens that play a named role, as tokenizer_config.json (or
/// special_tokens_map.json) names them; nullopt where the files name none.
struct SpecialTokenIds {
  std::optional<std::int32_t> bos, eos, unk, sep, pad, cls, mask;
};

/// Settings from outside the tokenizer's own files.
struct TokenizerOptions {
  /// Lowercase the text before everything else, unless the file's normalizer has a Lowercase step
  /// of its own ("do_lower_case" of sentence_bert_config.json).
  bool lowercase = false;
};

struct TokenizerImpl;

/// Turns text into the same token ids as the Hugging Face library, and ids into text, as described
/// by a model directory's tokenizer.json, or by vocab.txt for old BERT directories.
///
/// Immutable: every method may be called from any number of threads at once. Copies share state.
/// The "padding" of tokenizer.json is ignored: batches are packed, never padded.
class Tokenizer {
 public:
  /// Loads tokenizer.json, else vocab.txt, and what tokenizer_config.json and
  /// special_tokens_map.json add. Throws LatticeError: kNotFound when there is no tokenizer file,
  /// kMalformed for a broken one, kUnsupported naming the component that lattice does not implement
  /// and where it is in the file.
  static Tokenizer from_directory(const std::filesystem::path& directory,
                                  const TokenizerOptions& options = {});

  /// Builds from the text of a tokenizer.json. `source` names it in messages. Throws like
  /// from_directory().
  static Tokenizer from_json(std::string_view json, const std::string& source = "tokenizer.json");

  /// Encodes one text. Throws LatticeError: kInvalidArgument for invalid UTF-8 (with the byte
  /// offset), for a max_length below the number of special tokens and for kOnlySecond with
  /// truncation needed; kTooLong when the strategy cannot shorten the text enough.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;

  /// Encodes two texts with the post-processor's pair template. Throws like encode().
  Encoding encode_pair(std::string_view first, std::string_view second,
                       const EncodeOptions& options = {}) const;

  /// The text of `ids`. Tokens added as special ("special": true) are left out when
  /// `skip_special_tokens`; other added tokens, such as <think>, never are. Bytes that do not form
  /// UTF-8 become U+FFFD. Throws LatticeError(kInvalidArgument) for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = true) const;

  /// The token's text in the vocabulary (not decoded), or nullopt for an id that has none.
  std::optional<std::string> id_to_token(std::int32_t id) const;
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// The number of distinct tokens, added tokens included.
  std::size_t vocab_size() const;
  /// One more than the largest id that encode() can return.
  std::size_t id_bound() const;

  /// How many tokens the post-processor adds to one text, or to a pair.
  std::size_t num_special_tokens(bool pair) const;
  const SpecialTokenIds& special_token_ids() const;

  /// model_max_length of tokenizer_config.json; nullopt when absent or so large that it means none.
  std::optional<std::size_t> model_max_length() const;
  /// Whether the model takes type ids: false when model_input_names of tokenizer_config.json leaves
  /// token_type_ids out. encode() fills them in either case.
  bool uses_type_ids() const;
  /// The max_length of the "truncation" of tokenizer.json, if it has one.
  std::optional<std::size_t> file_truncation_length() const;

  /// A hash of everything in the files that may change ids or text, as 16 hexadecimal digits;
  /// stable across runs and machines.
  const std::string& fingerprint() const;

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::shared_ptr<const TokenizerImpl> impl);
  std::shared_ptr<const TokenizerImpl> impl_;
};

}  // namespace lattice
