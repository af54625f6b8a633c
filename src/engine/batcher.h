#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace lattice {

/// Groups items for computation: by descending length (ties in input order), as many per batch as
/// fit `token_budget`; an item longer than the budget is a batch of its own. Items of length 0 are
/// left out, and items longer than `longest_together` never share a batch with others. Returns
/// indices into `lengths`. Neighbours of similar length make evenly sized work; results never
/// depend on the grouping.
std::vector<std::vector<std::size_t>> make_batches(
    std::span<const std::size_t> lengths, std::size_t token_budget,
    std::size_t longest_together = std::numeric_limits<std::size_t>::max());

}  // namespace lattice
