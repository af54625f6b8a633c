#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "text/normalizer.h"
#include "text/phrase_matcher.h"
#include "text/token_span.h"
#include "text/vocabulary.h"

namespace lattice {

/// A token that is looked for in the text itself, before the model sees it.
struct AddedToken {
  std::string content;
  bool single_word = false;  ///< only where no word character touches it
  bool lstrip = false;       ///< takes the white space before it along
  bool rstrip = false;       ///< takes the white space after it along
  bool normalized = true;    ///< its normalized form is looked for in the normalized text
  bool special = false;      ///< left out of decoded text on request

  bool operator==(const AddedToken&) const = default;
};

/// The added tokens of a tokenizer. Immutable once built; reading is thread-safe.
class AddedTokens {
 public:
  /// The file's own idea of a token's id, which is only checked: as in the Hugging Face library,
  /// the id is that of the model's vocabulary, or the next free one after it.
  struct Listed {
    AddedToken token;
    std::optional<std::int64_t> id;
  };

  /// Reads the "added_tokens" array of a tokenizer.json. Errors: kMalformed.
  static Result<std::vector<Listed>> parse(const Json& array, const std::string& where);

  AddedTokens() = default;
  /// Registers `tokens` in order. A repeated content updates the earlier token; an empty content is
  /// ignored. Of two tokens with one normalized form, the first is the one that is found (the
  /// library picks at random). Errors: kUnsupported for a token whose normalized form is empty or
  /// that is longer than 4096 bytes.
  static Result<AddedTokens> build(const std::vector<Listed>& tokens, const Vocabulary& vocabulary,
                                   const Normalizer* normalizer, const std::string& where);

  /// One piece of a text: an added token, or a gap (no id) for the rest of the pipeline.
  struct Piece {
    std::optional<std::int32_t> id;
    ByteRange range;
  };
  /// Whether a match at a range of the text does not count.
  using Refusal = std::function<bool(ByteRange)>;

  /// Cuts the original `text` at the tokens that are not normalized, but not where `refuse`, if not
  /// empty, says so. Empty gaps are left out.
  void cut_original(std::string_view text, std::vector<Piece>& pieces,
                    const Refusal& refuse = {}) const {
    cut(original_, text, refuse, pieces);
  }
  /// Cuts normalized text at the tokens that are.
  void cut_normalized(std::string_view text, std::vector<Piece>& pieces,
                      const Refusal& refuse = {}) const {
    cut(normalized_, text, refuse, pieces);
  }
  bool has_normalized() const { return !normalized_.matcher.empty(); }

  std::optional<std::int32_t> find(std::string_view content) const;
  /// The token that decoding sees: the normalized form of tokens that are normalized.
  std::optional<std::string_view> token(std::int32_t id) const;
  /// Whether the id's text is that of a token that was ever listed as special.
  bool is_special(std::int32_t id) const;

  /// How many contents are not in the model's vocabulary.
  std::size_t num_new() const { return num_new_; }
  /// One more than the largest id; 0 when there are none.
  std::size_t id_bound() const { return id_bound_; }

 private:
  struct Entry {
    AddedToken token;
    std::string decoded;  // what decoding sees
    bool special = false;
  };
  struct MatchSet {
    PhraseMatcher matcher;
    std::vector<std::int32_t> ids;  // by phrase
  };
  Result<void> build_matchers(const std::string& where);
  void cut(const MatchSet& set, std::string_view text, const Refusal& refuse,
           std::vector<Piece>& pieces) const;

  std::map<std::string, std::int32_t, std::less<>> ids_;
  std::map<std::int32_t, Entry> entries_;
  std::vector<std::int32_t> order_;  // ids in order of first listing
  MatchSet original_;
  MatchSet normalized_;
  std::size_t num_new_ = 0;
  std::size_t id_bound_ = 0;
};

}  // namespace lattice
