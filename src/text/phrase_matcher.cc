#include "text/phrase_matcher.h"

#include <algorithm>
#include <numeric>

namespace lattice {

PhraseMatcher::PhraseMatcher(const std::vector<std::string>& phrases) {
  if (phrases.empty()) return;
  build_trie(phrases);
  link_failures();
}

// Breadth first over the sorted phrases, so that the children of one node are neighbours.
void PhraseMatcher::build_trie(const std::vector<std::string>& phrases) {
  std::vector<std::size_t> order(phrases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return phrases[a] < phrases[b]; });
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, order.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    if (phrases[order[begin]].size() == depth) {
      nodes_[node].phrase = static_cast<std::int32_t>(order[begin]);
      nodes_[node].phrase_length = static_cast<std::uint32_t>(depth);
      ++begin;
    }
    nodes_[node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (begin < end) {
      const char byte = phrases[order[begin]][depth];
      std::size_t stop = begin + 1;
      while (stop < end && phrases[order[stop]][depth] == byte) ++stop;
      edges_.push_back(
          {static_cast<unsigned char>(byte), static_cast<std::int32_t>(nodes_.size())});
      ++nodes_[node].num_edges;
      ranges.push_back({begin, stop, depth + 1});
      nodes_.emplace_back();
      begin = stop;
    }
  }
  for (std::uint32_t i = 0; i < nodes_[0].num_edges; ++i) {
    root_child_[edges_[i].byte] = edges_[i].node;
  }
}

// Nodes are numbered breadth first, so a node's failure target is final before its children's. A
// node that completes a phrase fails to kDead, and so does everything below it: a match that starts
// further right must not replace one that has been found.
void PhraseMatcher::link_failures() {
  for (std::size_t parent = 0; parent < nodes_.size(); ++parent) {
    const Node from = nodes_[parent];
    for (std::uint32_t i = 0; i < from.num_edges; ++i) {
      const Edge edge = edges_[from.first_edge + i];
      Node& node = nodes_[static_cast<std::size_t>(edge.node)];
      if (node.phrase != kNoPhrase) {
        node.fail = kDead;
        continue;
      }
      node.fail = parent == kRoot ? kRoot : next(from.fail, edge.byte);
      if (node.fail == kDead) continue;
      const Node& suffix = nodes_[static_cast<std::size_t>(node.fail)];
      node.phrase = suffix.phrase;
      node.phrase_length = suffix.phrase_length;
    }
  }
}

std::int32_t PhraseMatcher::child(std::int32_t node, unsigned char byte) const {
  if (node == kRoot) return root_child_[byte];
  const Node& from = nodes_[static_cast<std::size_t>(node)];
  const auto first = edges_.begin() + from.first_edge;
  const auto last = first + from.num_edges;
  const auto edge = std::lower_bound(
      first, last, byte, [](const Edge& e, unsigned char wanted) { return e.byte < wanted; });
  return edge != last && edge->byte == byte ? edge->node : kRoot;
}

std::int32_t PhraseMatcher::next(std::int32_t node, unsigned char byte) const {
  while (node != kDead) {
    if (const std::int32_t to = child(node, byte); to != kRoot) return to;
    if (node == kRoot) return kRoot;
    node = nodes_[static_cast<std::size_t>(node)].fail;
  }
  return kDead;
}

std::optional<PhraseMatcher::Match> PhraseMatcher::find(std::string_view text,
                                                        std::size_t from) const {
  if (empty()) return std::nullopt;
  std::optional<Match> best;
  std::int32_t node = kRoot;
  for (std::size_t at = from; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    if (node == kRoot) {
      node = root_child_[byte];
      if (node == kRoot) continue;
    } else {
      node = next(node, byte);
      if (node == kDead) break;
    }
    const Node& here = nodes_[static_cast<std::size_t>(node)];
    if (here.phrase != kNoPhrase) {
      best = {static_cast<std::size_t>(here.phrase), {at - here.phrase_length, at}};
    }
  }
  return best;
}

}  // namespace lattice
