#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels/gemm.h"
#include "base/aligned_buffer.h"

namespace lattice {

/// One tile of a set of kernels and how many rows and panels it takes.
struct TileCase {
  TileFunction function;
  std::int64_t rows;
  std::int64_t panels;
};

/// Every tile of `kernels`.
inline std::vector<TileCase> all_tiles(const GemmKernels& kernels) {
  std::vector<TileCase> cases;
  for (std::int64_t pairs = 1; 2 * pairs <= kernels.max_rows; ++pairs) {
    cases.push_back({kernels.tiles[static_cast<std::size_t>(pairs - 1)], 2 * pairs, 1});
  }
  cases.push_back({kernels.pair_wide, 2, 2});
  cases.push_back({kernels.row, 1, 1});
  cases.push_back({kernels.row_wide, 1, kMaxTilePanels});
  cases.push_back({kernels.row_stream, 1, kernels.stream_panels});
  return cases;
}

/// The panels of a weight [panels * panel_cols, elements of a row]: floats, or blocks of Q8_0.
template <class T>
AlignedBuffer<std::byte> pack_panels(const GemmKernels& kernels, const std::vector<T>& weight,
                                     std::int64_t panels) {
  const std::int64_t panel_size = static_cast<std::int64_t>(weight.size()) / panels;
  const std::int64_t elements = panel_size / kernels.panel_cols;
  const std::int64_t step = std::is_same_v<T, float> ? kernels.depth_step : 1;
  const std::int64_t depth = (elements + step - 1) / step;
  const std::int64_t panel_bytes = depth * kernels.panel_cols * kernels.column_bytes;
  AlignedBuffer<std::byte> packed(static_cast<std::size_t>(panels * panel_bytes));
  for (std::int64_t p = 0; p < panels; ++p) {
    const T* rows = weight.data() + p * panel_size;
    std::byte* panel = packed.data() + p * panel_bytes;
    if constexpr (std::is_same_v<T, float>) {
      kernels.pack_panel(rows, kernels.panel_cols, elements, panel);
    } else {
      pack_panel_q8_0(rows, kernels.panel_cols, elements, kernels.group_size, panel);
    }
  }
  return packed;
}

/// What a tile makes of x [rows, k] and packed panels on top of `initial` [rows, panels *
/// panel_cols], or from zero where that is empty.
inline std::vector<float> run_tile(const GemmKernels& kernels, const TileCase& tile,
                                   const std::vector<float>& x,
                                   const AlignedBuffer<std::byte>& panels,
                                   const std::vector<float>& initial) {
  const auto k = static_cast<std::int64_t>(x.size()) / tile.rows;
  const std::int64_t depth = (k + kernels.depth_step - 1) / kernels.depth_step;
  const std::int64_t cols = tile.panels * kernels.panel_cols;
  AlignedBuffer<std::byte> block(static_cast<std::size_t>(tile.rows * depth * kernels.block_bytes));
  kernels.pack_block(x.data(), k, tile.rows, k, block.data());
  AlignedBuffer<float> sums(static_cast<std::size_t>(tile.rows * cols));
  std::copy(initial.begin(), initial.end(), sums.data());
  tile.function({.block = block.data(),
                 .panels = panels.data(),
                 .depth = depth,
                 .sums = sums.data(),
                 .sums_stride = cols,
                 .accumulate = !initial.empty()});
  return {sums.span().begin(), sums.span().end()};
}

}  // namespace lattice
