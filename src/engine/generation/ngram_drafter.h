#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace lattice {

/// Guesses the next tokens from the history: what followed the last tokens when they were last seen
/// together. Guesses cost almost nothing, and where an answer repeats its prompt (code, quotes,
/// summaries) many come true. Source: Saxena, "Prompt Lookup Decoding", 2023.
///
/// Deterministic: guesses depend on the accepted tokens alone. Accept only tokens that are final: a
/// guess that was refused must never be among them. Not thread-safe: one drafter per sequence.
class NgramDrafter {
 public:
  /// Compares the last `max_ngram` tokens first, then fewer, down to `min_ngram`. Throws
  /// LatticeError(kInvalidArgument) unless 1 <= min_ngram <= max_ngram <= 16.
  NgramDrafter(std::size_t min_ngram, std::size_t max_ngram);

  /// Appends tokens of the prompt or the output. Each takes time proportional to
  /// max_ngram * (max_ngram - min_ngram + 1), however long the history is.
  void accept(std::span<const std::int32_t> ids);
  void accept(std::int32_t id) { accept(std::span(&id, 1)); }

  /// The tokens, at most `max_tokens`, that followed the most recent earlier occurrence of the
  /// longest n-gram that the history ends with; empty when none occurred before. An occurrence may
  /// overlap the end; the tokens end where the history ends.
  std::vector<std::int32_t> propose(std::size_t max_tokens) const;

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
