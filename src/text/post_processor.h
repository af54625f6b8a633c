#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace lattice {

/// How one kind of result (one text or a pair, with or without special tokens) is put together.
struct AssemblyPlan {
  enum class Source { kFirst, kSecond, kSpecial };
  /// Shrinks offsets to leave out the spaces at the ends of each token (byte-level tokenizers).
  struct Trim {
    /// A single leading space of the first token was put there by the pre-tokenizer: keep it.
    bool add_prefix_space = false;
    /// Whether the sequence's first token is the first of its encoding.
    bool at_start = true;
  };
  struct Piece {
    Source source = Source::kFirst;
    std::int32_t type_id = 0;
    std::vector<std::int32_t> ids;  // of kSpecial
    std::vector<Trim> trims;        // of the others, in order
  };
  std::vector<Piece> pieces;
};

/// What the "post_processor" of a tokenizer.json does, worked out in advance. Immutable.
class PostProcessor {
 public:
  /// None: the first text with type id 0, the second with 1, nothing added.
  PostProcessor();

  /// Builds what `json` describes (or none for JSON null). `where` names the place for messages.
  /// Errors: kUnsupported for an unknown type, kMalformed for wrong fields or templates.
  static Result<PostProcessor> make(const Json& json, const std::string& where);

  /// BertProcessing: [CLS] A [SEP], and B [SEP] with type id 1.
  static PostProcessor bert(std::int32_t cls, std::int32_t sep);

  const AssemblyPlan& plan(bool pair, bool add_special_tokens) const {
    return plans_[pair ? 1 : 0][add_special_tokens ? 1 : 0];
  }
  /// The tokens that are reserved when truncating. Equal to the number of special tokens in the
  /// plan except for odd templates.
  std::size_t num_added(bool pair) const { return num_added_[pair ? 1 : 0]; }

  struct Step;  // one component, for post_processor.cc

 private:
  static Result<PostProcessor> from_steps(const std::vector<Step>& steps, const std::string& where);

  AssemblyPlan plans_[2][2];
  std::size_t num_added_[2] = {0, 0};
};

}  // namespace lattice
