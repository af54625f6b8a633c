#include "text/bpe_merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>

namespace lattice {
namespace {

// An odd number that differs from run to run, so that no file can be made to fill one hash chain.
std::uint64_t random_multiplier() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random() | 1u;
}

constexpr std::size_t kShortWord = 64;  // a multiple of 8
constexpr std::uint32_t kPlaceBits = 6;
constexpr std::size_t kMaxShortRules = std::size_t{1} << (31 - kPlaceBits);
constexpr std::int32_t kNoKey = INT32_MAX;

// `count` is a multiple of 8: eight running minima, which compilers turn into vectors.
std::int32_t lowest_key(const std::int32_t* keys, std::size_t count) {
  std::array<std::int32_t, 8> lowest;
  lowest.fill(kNoKey);
  for (std::size_t i = 0; i < count; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane)
      lowest[lane] = std::min(lowest[lane], keys[i + lane]);
  }
  return *std::min_element(lowest.begin(), lowest.end());
}

// A word as a doubly linked list with a heap of the merges that may apply.
class LongWord {
 public:
  LongWord(const BpeMerges& merges, std::vector<BpeSymbol>& symbols)
      : merges_(merges), symbols_(symbols), links_(symbols.size()) {
    const auto count = static_cast<std::uint32_t>(symbols.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      links_[i] = {i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1};
      if (i + 1 < count) push_if_mergeable(i, i + 1);
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    is_heap_ = true;
  }

  void run() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t top = heap_.back();
      heap_.pop_back();
      apply(static_cast<std::uint32_t>(top >> 32), static_cast<std::uint32_t>(top));
    }
    std::erase_if(symbols_, [](const BpeSymbol& symbol) { return symbol.id < 0; });
  }

 private:
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  struct Link {
    std::uint32_t previous, next;
  };

  // An entry is stale when the pair at its place has changed since; the library takes it for
  // current as long as the pair there gives the same token.
  void apply(std::uint32_t rank, std::uint32_t left) {
    if (symbols_[left].id < 0 || links_[left].next == kEnd) return;
    const std::uint32_t right = links_[left].next;
    const std::uint32_t current = merges_.rank(symbols_[left].id, symbols_[right].id);
    if (current == BpeMerges::kNoRank || merges_.joined(current) != merges_.joined(rank)) return;
    symbols_[left].id = merges_.joined(rank);
    symbols_[left].length += symbols_[right].length;
    symbols_[right].id = -1;
    const std::uint32_t next = links_[right].next;
    links_[left].next = next;
    if (next != kEnd) links_[next].previous = left;
    if (links_[left].previous != kEnd) push_if_mergeable(links_[left].previous, left);
    if (next != kEnd) push_if_mergeable(left, next);
  }

  void push_if_mergeable(std::uint32_t left, std::uint32_t right) {
    const std::uint32_t rank = merges_.rank(symbols_[left].id, symbols_[right].id);
    if (rank == BpeMerges::kNoRank) return;
    heap_.push_back((static_cast<std::uint64_t>(rank) << 32) | left);
    if (is_heap_) std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  const BpeMerges& merges_;
  std::vector<BpeSymbol>& symbols_;
  std::vector<Link> links_;
  std::vector<std::uint64_t> heap_;  // rank, then place of the left symbol
  bool is_heap_ = false;
};

}  // namespace

void BpeMerges::reserve(std::size_t count) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(count * 2, 16));
  slots_.assign(slots, Slot{});
  multiplier_ = random_multiplier();
  shift_ = 64 - std::countr_zero(slots);
  joined_.reserve(count);
}

void BpeMerges::add(std::int32_t left, std::int32_t right, std::int32_t joined) {
  const std::uint64_t pair = pair_key(left, right);
  std::size_t slot = first_slot(pair);
  while (slots_[slot].pair != kFree && slots_[slot].pair != pair) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  slots_[slot] = {pair, static_cast<std::uint32_t>(joined_.size())};
  joined_.push_back(joined);
}

std::size_t BpeMerges::first_slot(std::uint64_t pair) const {
  return static_cast<std::size_t>((pair * multiplier_) >> shift_);
}

std::uint32_t BpeMerges::rank(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_key(left, right);
  for (std::size_t slot = first_slot(pair);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].pair == pair) return slots_[slot].rank;
    if (slots_[slot].pair == kFree) return kNoRank;
  }
}

void BpeMerges::merge(std::vector<BpeSymbol>& symbols, bool simple) const {
  if (symbols.size() < 2 || joined_.empty()) return;
  if (simple && symbols.size() <= kShortWord && joined_.size() < kMaxShortRules) {
    merge_short(symbols);
  } else {
    merge_long(symbols);
  }
}

// Looks for the lowest rank again and again: quadratic, but fastest for the words of real text. A
// key holds a pair's rank and, below it, the place of its left symbol, so that the lowest key is
// the leftmost pair of lowest rank. Symbols are linked, not moved, until the end.
void BpeMerges::merge_short(std::vector<BpeSymbol>& symbols) const {
  const std::size_t count = symbols.size();
  std::array<std::int32_t, kShortWord> keys;
  std::array<std::uint8_t, kShortWord> previous, next;
  const auto set_key = [&](std::size_t left, std::size_t right) {
    const std::uint32_t found = rank(symbols[left].id, symbols[right].id);
    keys[left] =
        found == kNoRank ? kNoKey : static_cast<std::int32_t>((found << kPlaceBits) | left);
  };
  for (std::size_t i = 0; i + 1 < count; ++i) {
    set_key(i, i + 1);
    next[i] = static_cast<std::uint8_t>(i + 1);
    previous[i + 1] = static_cast<std::uint8_t>(i);
  }
  next[count - 1] = kShortWord;
  for (std::size_t i = count - 1; i < (count + 7) / 8 * 8; ++i) keys[i] = kNoKey;
  while (true) {
    const std::int32_t lowest = lowest_key(keys.data(), (count + 7) / 8 * 8);
    if (lowest == kNoKey) break;
    const auto left = static_cast<std::size_t>(lowest) & ((1u << kPlaceBits) - 1);
    const std::size_t right = next[left];
    symbols[left].id = joined_[static_cast<std::size_t>(lowest) >> kPlaceBits];
    symbols[left].length += symbols[right].length;
    symbols[right].length = 0;
    keys[left] = keys[right] = kNoKey;
    next[left] = next[right];
    if (next[left] != kShortWord) {
      previous[next[left]] = static_cast<std::uint8_t>(left);
      set_key(left, next[left]);
    }
    if (left > 0) set_key(previous[left], left);
  }
  std::erase_if(symbols, [](const BpeSymbol& symbol) { return symbol.length == 0; });
}

void BpeMerges::merge_long(std::vector<BpeSymbol>& symbols) const {
  LongWord(*this, symbols).run();
}

}  // namespace lattice
