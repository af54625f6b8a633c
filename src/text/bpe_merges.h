#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lattice {

/// One token of a word that is being merged, and how many bytes of the word it covers.
struct BpeSymbol {
  std::int32_t id;
  std::uint32_t length;
};

/// The merge rules of a byte-pair encoding: which pairs of tokens join, in which order of priority,
/// into what. Immutable once filled; merging is thread-safe.
class BpeMerges {
 public:
  static constexpr std::uint32_t kNoRank = UINT32_MAX;

  /// Prepares for `count` rules.
  void reserve(std::size_t count);
  /// Adds the next rule; rules come in order of priority. A pair listed again keeps the later rank.
  void add(std::int32_t left, std::int32_t right, std::int32_t joined);

  std::size_t size() const { return joined_.size(); }
  /// The rank of a pair, or kNoRank.
  std::uint32_t rank(std::int32_t left, std::int32_t right) const;
  std::int32_t joined(std::uint32_t rank) const { return joined_[rank]; }

  /// Applies the rules to `symbols` until none applies: the rule of lowest rank first, of those the
  /// leftmost. `simple`: no symbol is an unknown or fallback token, so that short words may take a
  /// shorter way to the same result. n log n in the number of symbols, which must be below 2^32
  /// - 1.
  void merge(std::vector<BpeSymbol>& symbols, bool simple) const;

 private:
  struct Slot {
    std::uint64_t pair = kFree;
    std::uint32_t rank = kNoRank;
  };
  static constexpr std::uint64_t kFree = UINT64_MAX;

  static std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
  }
  std::size_t first_slot(std::uint64_t pair) const;
  void merge_short(std::vector<BpeSymbol>& symbols) const;
  void merge_long(std::vector<BpeSymbol>& symbols) const;

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::uint64_t multiplier_ = 1;
  int shift_ = 63;                    // 64 - log2(slots)
  std::vector<std::int32_t> joined_;  // by rank
};

}  // namespace lattice
