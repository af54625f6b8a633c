#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lattice {

/// A map from byte strings to non-negative numbers that is walked byte by byte, stored as a double
/// array: the child of node n over byte b is slot base(n) xor b, if that slot says its parent is n.
/// Immutable once built; reading is thread-safe.
class ByteTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  /// The node that no text leads to.
  static constexpr Node kNone = UINT32_MAX;

  struct Item {
    std::string_view key;
    std::int32_t value;
  };

  /// Builds from items in any order; of equal keys the largest value counts. Errors: kUnsupported
  /// (prefixed with `where`) when the trie would need more than 2^26 nodes.
  static Result<ByteTrie> build(std::vector<Item> items, const std::string& where);

  /// The node reached from `node` over `byte`, or kNone. `node` must not be kNone.
  Node step(Node node, unsigned char byte) const {
    const Node child = slots_[node].base ^ byte;
    return slots_[child].parent == node ? child : kNone;
  }
  Node walk(Node node, std::string_view bytes) const {
    for (const char byte : bytes) {
      if (node == kNone) return kNone;
      node = step(node, static_cast<unsigned char>(byte));
    }
    return node;
  }
  /// The value of the key that ends at `node`, or -1.
  std::int32_t value(Node node) const { return slots_[node].value; }

 private:
  struct Slot {
    std::uint32_t base = 0;
    std::uint32_t parent = kNone;
    std::int32_t value = -1;
  };
  friend class ByteTrieBuilder;

  std::vector<Slot> slots_;  // a multiple of 256, so that every base xor byte is inside
};

}  // namespace lattice
