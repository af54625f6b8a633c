#include "engine/batcher.h"

#include <algorithm>

namespace lattice {

std::vector<std::vector<std::size_t>> make_batches(std::span<const std::size_t> lengths,
                                                   std::size_t token_budget,
                                                   std::size_t longest_together) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
  });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t used = 0;
  const auto is_long = [&](std::size_t i) { return lengths[i] > longest_together; };
  for (const std::size_t i : order) {
    if (batches.empty() || used + lengths[i] > token_budget ||
        is_long(batches.back().front()) != is_long(i)) {
      batches.emplace_back();
      used = 0;
    }
    batches.back().push_back(i);
    used += lengths[i];
  }
  return batches;
}

}  // namespace lattice
