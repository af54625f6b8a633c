#pragma once

#include <unordered_map>

#include "engine/generation/drafter.h"

namespace lattice {

/// Guesses the next tokens from the history: what followed the last tokens when they were last seen
/// together. Guesses cost almost nothing, and where an answer repeats its prompt (code, quotes,
/// summaries) many come true. Source: Saxena, "Prompt Lookup Decoding", 2023.
///
/// Deterministic: guesses depend on the accepted tokens alone.
class NgramDrafter final : public Drafter {
 public:
  /// Compares the last `max_ngram` tokens first, then fewer, down to `min_ngram`. Throws
  /// LatticeError(kInvalidArgument) unless 1 <= min_ngram <= max_ngram <= 16.
  NgramDrafter(std::size_t min_ngram, std::size_t max_ngram);

  /// Each token takes time proportional to
  /// max_ngram * (max_ngram - min_ngram + 1), however long the history is.
  void accept(std::span<const std::int32_t> ids) override;

  /// The tokens, at most `max_tokens`, that followed the most recent earlier occurrence of the
  /// longest n-gram that the history ends with; empty when none occurred before. An occurrence may
  /// overlap the end; the tokens end where the history ends.
  std::vector<std::int32_t> propose(std::size_t max_tokens) override;

  std::size_t num_accepted() const { return history_.size(); }

 private:
  /// Of the n tokens before `end`.
  std::uint64_t hash(std::size_t end, std::size_t n) const;

  std::size_t min_ngram_, max_ngram_;
  std::vector<std::int32_t> history_;
  /// For each n: hash of an n-gram -> the position behind its last occurrence. An n-gram is added
  /// when a token follows it, so that the end of the history never finds itself.
  std::vector<std::unordered_map<std::uint64_t, std::size_t>> ends_;
};

}  // namespace lattice
