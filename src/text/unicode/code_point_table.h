#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lattice::unicode {

inline constexpr char32_t kCodePointCount = 0x110000;

/// A value for every code point, in two stages: blocks of 128 code points, equal blocks stored
/// once. Lookup is two loads. Built once, then immutable.
template <typename T>
class CodePointTable {
 public:
  struct Run {
    char32_t first;
    T value;
  };

  /// `runs` sorted by `first`, each lasting until the next; T() before the first.
  explicit CodePointTable(std::span<const Run> runs) {
    blocks_.resize(kCodePointCount / kBlock);
    std::vector<T> block(kBlock);
    std::size_t next = 0;
    T value{};
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const char32_t begin = static_cast<char32_t>(i * kBlock);
      for (char32_t offset = 0; offset < kBlock; ++offset) {
        if (next < runs.size() && runs[next].first == begin + offset) value = runs[next++].value;
        block[offset] = value;
      }
      const bool uniform = next == runs.size() || runs[next].first >= begin + 2 * kBlock;
      blocks_[i] = add_block(block);
      // The blocks up to the next run are all alike: skip the work.
      if (!uniform) continue;
      std::fill(block.begin(), block.end(), value);
      const std::uint16_t same = add_block(block);
      const std::size_t stop = next == runs.size() ? blocks_.size() : runs[next].first / kBlock;
      while (i + 1 < stop) blocks_[++i] = same;
    }
  }

  T operator[](char32_t c) const { return values_[blocks_[c / kBlock] * kBlock + c % kBlock]; }

 private:
  static constexpr char32_t kBlock = 128;

  std::uint16_t add_block(const std::vector<T>& block) {
    for (std::size_t i = 0; i < values_.size(); i += kBlock) {
      const auto known = values_.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::equal(block.begin(), block.end(), known)) {
        return static_cast<std::uint16_t>(i / kBlock);
      }
    }
    values_.insert(values_.end(), block.begin(), block.end());
    return static_cast<std::uint16_t>(values_.size() / kBlock - 1);
  }

  std::vector<std::uint16_t> blocks_;
  std::vector<T> values_;
};

}  // namespace lattice::unicode
