#pragma once

#include <optional>
#include <string>

#include "engine/loaded_model.h"
#include "engine/tokenized_text.h"
#include "lattice/scoring.h"

namespace lattice {

/// Limits of one call.
struct PairLimits {
  std::size_t max_length = 0;
  std::string max_length_source;
  Truncate truncate = Truncate::kEnd;
};

/// Turns a text or a pair into the tokens that a head was trained on. Immutable, thread-safe.
class PairEncoder {
 public:
  PairEncoder() = default;
  PairEncoder(const PairEncoder&) = delete;
  PairEncoder& operator=(const PairEncoder&) = delete;
  virtual ~PairEncoder() = default;

  /// Throws LatticeError: kTooLong under Truncate::kError, kInvalidArgument for invalid UTF-8.
  virtual TokenizedText encode(const TextPair& text, const PairLimits& limits) const = 0;

  /// How many tokens besides those of the query and the document a pair has.
  virtual std::size_t num_added_tokens() const = 0;
};

/// Text and pair one behind the other, as the tokenizer's post-processor puts them together;
/// truncation is longest-first. Source: sentence-transformers, CrossEncoder.
class SequencePairEncoder final : public PairEncoder {
 public:
  explicit SequencePairEncoder(const LoadedModel& model) : model_(model) {}

  TokenizedText encode(const TextPair& text, const PairLimits& limits) const override;
  std::size_t num_added_tokens() const override {
    return model_.tokenizer.num_special_tokens(/*pair=*/true);
  }

 private:
  const LoadedModel& model_;
};

}  // namespace lattice
