#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "text/pre_tokenizer.h"
#include "text/token_span.h"
#include "text/vocabulary.h"

namespace lattice {

/// The tokens that a model makes of one text, in order.
struct TokenList {
  /// Whether `ranges` is filled.
  bool with_ranges = false;
  std::vector<std::int32_t> ids;
  /// The bytes of the pre-tokenized text that each token covers.
  std::vector<ByteRange> ranges;

  void clear() {
    ids.clear();
    ranges.clear();
  }
  void add(std::int32_t id, std::size_t begin, std::size_t end) {
    ids.push_back(id);
    if (with_ranges) ranges.push_back({begin, end});
  }
};

/// The part of a tokenizer that turns words into tokens: WordPiece, BPE, Unigram or WordLevel.
/// Immutable; every method is thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  /// Appends the tokens of every split of `text` to `tokens`. A model that does not work on raw
  /// bytes maps them first. Throws LatticeError(kMalformed) when an unknown word needs an unknown
  /// token that the file does not define.
  virtual void tokenize(PreTokenizedText& text, TokenList& tokens) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};

/// Builds the "model" of a tokenizer.json. `where` names the file and place for messages. Errors:
/// kMalformed, or kUnsupported naming what is not implemented.
Result<std::unique_ptr<TokenModel>> make_token_model(const Json& json, const std::string& where);

}  // namespace lattice
