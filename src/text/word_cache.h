#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "text/bpe_merges.h"
#include "text/token_model.h"

namespace lattice {

/// The tokens of words that this thread has lately split: a table of fixed size in which a new word
/// displaces the one in its place. Words are compared in full. One per thread, shared by all models
/// on it, so neither locks nor unbounded memory are needed.
class WordCache {
 public:
  static constexpr std::size_t kMaxBytes = 23;
  static constexpr std::size_t kMaxTokens = 7;

  struct Entry {
    std::uint32_t model = 0;  // 0: none
    std::uint8_t num_bytes = 0;
    std::uint8_t num_tokens = 0;
    std::array<char, kMaxBytes> bytes;
    std::array<std::uint8_t, kMaxTokens> lengths;
    std::array<std::int32_t, kMaxTokens> ids;
  };
  static_assert(sizeof(Entry) == 64, "one cache line");

  WordCache() : entries_(kNumEntries) {}

  static bool fits(std::string_view word) { return word.size() <= kMaxBytes; }

  /// The place of `word` (which fits), whether it is there or not.
  Entry& place(std::uint32_t model, std::string_view word) {
    return entries_[hash_bytes(word, model) >> (64 - kLogEntries)];
  }
  /// Whether `entry` is the word's own.
  static bool holds(const Entry& entry, std::uint32_t model, std::string_view word) {
    return entry.model == model && entry.num_bytes == word.size() &&
           std::memcmp(entry.bytes.data(), word.data(), word.size()) == 0;
  }
  /// Appends the tokens of `entry`, whose word is the bytes `word` of a text, to `tokens`.
  static void append(const Entry& entry, ByteRange word, TokenList& tokens) {
    const auto first = entry.ids.begin();
    tokens.ids.insert(tokens.ids.end(), first, first + entry.num_tokens);
    if (!tokens.with_ranges) return;
    std::size_t begin = word.begin;
    for (std::size_t i = 0; i < entry.num_tokens; ++i) {
      const std::size_t end = std::min(begin + entry.lengths[i], word.end);
      tokens.ranges.push_back({std::min(begin, end), end});
      begin = end;
    }
  }
  /// Puts the word there unless it has too many tokens.
  static void store(Entry& entry, std::uint32_t model, std::string_view word,
                    const std::vector<BpeSymbol>& symbols) {
    if (symbols.size() > kMaxTokens) return;
    entry.model = model;
    entry.num_bytes = static_cast<std::uint8_t>(word.size());
    entry.num_tokens = static_cast<std::uint8_t>(symbols.size());
    std::memcpy(entry.bytes.data(), word.data(), word.size());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      entry.ids[i] = symbols[i].id;
      entry.lengths[i] = static_cast<std::uint8_t>(symbols[i].length);
    }
  }

 private:
  static constexpr int kLogEntries = 13;
  static constexpr std::size_t kNumEntries = std::size_t{1} << kLogEntries;
  std::vector<Entry> entries_;
};

/// This thread's cache.
WordCache& thread_word_cache();

/// A number that tells one model from all others in the word caches.
std::uint32_t next_model_number();

/// Appends `symbols`, which cover the bytes `word` of a text, to `tokens`.
void append_symbols(const std::vector<BpeSymbol>& symbols, ByteRange word, TokenList& tokens);

}  // namespace lattice
