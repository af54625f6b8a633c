#pragma once

#include <optional>
#include <string>

#include "engine/loaded_model.h"
#include "engine/tokenized_text.h"
#include "lattice/scoring.h"

namespace lattice {

/// What one call asks of an encoder.
struct PairRequest {
  std::size_t max_length = 0;
  std::string max_length_source;
  Truncate truncate = Truncate::kEnd;
  std::optional<std::string> instruction = std::nullopt;  ///< RerankOptions::instruction
};

/// Turns a text or a pair into the tokens that a head was trained on. Immutable, thread-safe.
class PairEncoder {
 public:
  PairEncoder() = default;
  PairEncoder(const PairEncoder&) = delete;
  PairEncoder& operator=(const PairEncoder&) = delete;
  virtual ~PairEncoder() = default;

  /// Throws LatticeError: kTooLong under Truncate::kError, kInvalidArgument for invalid UTF-8 or an
  /// instruction that the model has no place for.
  virtual TokenizedText encode(const TextPair& text, const PairRequest& request) const = 0;

  /// How many tokens besides those of the query and the document a pair has.
  virtual std::size_t num_added_tokens() const = 0;
};

/// Text and pair one behind the other, as the tokenizer's post-processor puts them together;
/// truncation is longest-first. `prompt` goes in front of the first text. Source:
/// sentence-transformers, CrossEncoder.
class SequencePairEncoder final : public PairEncoder {
 public:
  SequencePairEncoder(const LoadedModel& model, std::string prompt)
      : model_(model), prompt_(std::move(prompt)) {}

  TokenizedText encode(const TextPair& text, const PairRequest& request) const override;
  std::size_t num_added_tokens() const override {
    return model_.tokenizer.num_special_tokens(/*pair=*/true);
  }

 private:
  const LoadedModel& model_;
  std::string prompt_;
};

}  // namespace lattice
