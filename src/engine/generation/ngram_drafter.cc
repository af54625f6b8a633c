#include "engine/generation/ngram_drafter.h"

#include <algorithm>

#include "base/result.h"

namespace lattice {

NgramDrafter::NgramDrafter(std::size_t min_ngram, std::size_t max_ngram)
    : min_ngram_(min_ngram), max_ngram_(max_ngram) {
  constexpr std::size_t kMax = 16;
  if (min_ngram == 0 || min_ngram > max_ngram || max_ngram > kMax) {
    raise(ErrorCode::kInvalidArgument,
          "[drafter] expected 1 <= min_ngram <= max_ngram <= {}, got {} and {}", kMax, min_ngram,
          max_ngram);
  }
  ends_.resize(max_ngram - min_ngram + 1);
}

std::uint64_t NgramDrafter::hash(std::size_t end, std::size_t n) const {
  std::uint64_t hash = n;
  for (std::size_t i = end - n; i < end; ++i) {
    hash = (hash ^ static_cast<std::uint32_t>(history_[i])) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return hash;
}

void NgramDrafter::accept(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) {
    const std::size_t end = history_.size();
    for (std::size_t n = min_ngram_; n <= max_ngram_ && n <= end; ++n) {
      ends_[n - min_ngram_][hash(end, n)] = end;
    }
    history_.push_back(id);
  }
}

std::vector<std::int32_t> NgramDrafter::propose(std::size_t max_tokens) {
  const std::size_t size = history_.size();
  for (std::size_t n = std::min(max_ngram_, size); n >= min_ngram_; --n) {
    const auto& ends = ends_[n - min_ngram_];
    const auto found = ends.find(hash(size, n));
    if (found == ends.end()) continue;
    const auto end = history_.begin() + static_cast<std::ptrdiff_t>(found->second);
    // Different n-grams may share a hash.
    const auto length = static_cast<std::ptrdiff_t>(n);
    if (!std::equal(end - length, end, history_.end() - length)) continue;
    const std::size_t count = std::min(max_tokens, size - found->second);
    return {end, end + static_cast<std::ptrdiff_t>(count)};
  }
  return {};
}

}  // namespace lattice
