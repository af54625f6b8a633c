#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_span.h"

namespace lattice {

/// Finds which of a fixed set of phrases occur in a text: leftmost first, of those that start at
/// one place the longest, never overlapping. An Aho-Corasick automaton, so time is linear in the
/// text whatever the phrases are. Immutable once built; reading is thread-safe.
class PhraseMatcher {
 public:
  PhraseMatcher() = default;
  /// Phrases must be distinct and not empty, of fewer than 2^31 bytes in all.
  explicit PhraseMatcher(const std::vector<std::string>& phrases);

  bool empty() const { return nodes_.empty(); }

  struct Match {
    std::size_t phrase;  ///< index into the phrases of the constructor
    ByteRange range;
  };
  /// The first match in text[from, end).
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  static constexpr std::int32_t kRoot = 0;
  static constexpr std::int32_t kDead = -1;
  static constexpr std::int32_t kNoPhrase = -1;

  struct Node {
    // Children are edges_[first_edge, first_edge + num_edges), sorted by byte.
    std::uint32_t first_edge = 0;
    std::uint16_t num_edges = 0;
    std::int32_t fail = kRoot;  // kDead: a match was passed, and only its extensions count
    std::int32_t phrase = kNoPhrase;
    std::uint32_t phrase_length = 0;
  };
  struct Edge {
    unsigned char byte;
    std::int32_t node;
  };

  void build_trie(const std::vector<std::string>& phrases);
  void link_failures();
  std::int32_t child(std::int32_t node, unsigned char byte) const;
  std::int32_t next(std::int32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::int32_t root_child_[256] = {};  // 0: none
};

}  // namespace lattice
