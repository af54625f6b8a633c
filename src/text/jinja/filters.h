#pragma once

#include <span>

#include "text/jinja/builtins.h"

namespace lattice::jinja {

// The filters by theme; find_filter searches them all.
std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> layout_filters();
std::span<const FilterEntry> number_filters();
std::span<const FilterEntry> sequence_filters();
std::span<const FilterEntry> ordering_filters();
std::span<const FilterEntry> selection_filters();
std::span<const FilterEntry> json_filters();

}  // namespace lattice::jinja
