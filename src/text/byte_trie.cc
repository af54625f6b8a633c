#include "text/byte_trie.h"

#include <algorithm>
#include <array>

namespace lattice {

// Places nodes breadth first. A node's children need a base whose slots are all free; only the last
// few blocks of 256 slots are searched, which keeps building linear and wastes little.
class ByteTrieBuilder {
 public:
  explicit ByteTrieBuilder(std::vector<ByteTrie::Item> items) : items_(std::move(items)) {}

  Result<ByteTrie> build(const std::string& where) {
    sort_items();
    add_block();
    take(ByteTrie::kRoot);
    trie_.slots_[0].parent = ByteTrie::kRoot - 1;  // nothing leads to the root
    std::vector<Range> queue = {{0, items_.size(), 0, ByteTrie::kRoot}};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (trie_.slots_.size() > kMaxNodes) {
        return fail(ErrorCode::kUnsupported, "{}: the tokens need more than {} trie nodes", where,
                    kMaxNodes);
      }
      place_children(queue[i], queue);
    }
    return std::move(trie_);
  }

 private:
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 26;
  static constexpr std::size_t kBlock = 256;
  static constexpr std::size_t kOpenBlocks = 16;

  // The items [begin, end) share their first `depth` bytes, which lead to `node`.
  struct Range {
    std::size_t begin, end, depth;
    ByteTrie::Node node;
  };

  void sort_items() {
    std::sort(items_.begin(), items_.end(), [](const auto& a, const auto& b) {
      return a.key == b.key ? a.value < b.value : a.key < b.key;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (kept > 0 && items_[kept - 1].key == items_[i].key) --kept;
      items_[kept++] = items_[i];
    }
    items_.resize(kept);
  }

  void place_children(Range range, std::vector<Range>& queue) {
    if (range.begin < range.end && items_[range.begin].key.size() == range.depth) {
      trie_.slots_[range.node].value = items_[range.begin].value;
      ++range.begin;
    }
    if (range.begin == range.end) return;
    const std::size_t first_child = queue.size();
    labels_.clear();
    for (std::size_t i = range.begin; i < range.end;) {
      const char label = items_[i].key[range.depth];
      std::size_t next = i + 1;
      while (next < range.end && items_[next].key[range.depth] == label) ++next;
      labels_.push_back(static_cast<unsigned char>(label));
      queue.push_back({i, next, range.depth + 1, 0});
      i = next;
    }
    const std::uint32_t base = find_base();
    trie_.slots_[range.node].base = base;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const ByteTrie::Node child = base ^ labels_[i];
      take(child);
      trie_.slots_[child].parent = range.node;
      queue[first_child + i].node = child;
    }
  }

  std::uint32_t find_base() {
    const std::size_t blocks = trie_.slots_.size() / kBlock;
    for (std::size_t block = blocks > kOpenBlocks ? blocks - kOpenBlocks : 0; block < blocks;
         ++block) {
      if (free_in_block_[block] < labels_.size()) continue;
      for (std::size_t slot = block * kBlock; slot < (block + 1) * kBlock; ++slot) {
        if (taken_[slot]) continue;
        const auto base = static_cast<std::uint32_t>(slot) ^ labels_[0];
        if (all_free(base)) return base;
      }
    }
    const auto base = static_cast<std::uint32_t>(trie_.slots_.size());
    add_block();
    return base;
  }

  bool all_free(std::uint32_t base) const {
    return std::none_of(labels_.begin(), labels_.end(),
                        [&](unsigned char label) { return taken_[base ^ label]; });
  }

  void add_block() {
    trie_.slots_.resize(trie_.slots_.size() + kBlock);
    taken_.resize(trie_.slots_.size(), false);
    free_in_block_.push_back(kBlock);
  }

  void take(std::size_t slot) {
    taken_[slot] = true;
    --free_in_block_[slot / kBlock];
  }

  std::vector<ByteTrie::Item> items_;
  ByteTrie trie_;
  std::vector<bool> taken_;
  std::vector<std::size_t> free_in_block_;
  std::vector<unsigned char> labels_;
};

Result<ByteTrie> ByteTrie::build(std::vector<Item> items, const std::string& where) {
  return ByteTrieBuilder(std::move(items)).build(where);
}

}  // namespace lattice
