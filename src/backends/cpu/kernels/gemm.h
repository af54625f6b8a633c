#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/cpu_target.h"
#include "tensor/q8_0.h"

namespace lattice {

// The matrix product is built from tiles: a few rows of x times one or more panels of the weight.
//
//   panel  panel_cols consecutive output features, laid out [depth][panel_cols]; the last one is
//          padded with zeros.
//   block  rows of x, laid out in pairs: [row / 2][depth][row % 2]; an odd last row is paired with
//          a copy of itself. A lone row is [depth].
//   depth  K in the format's elements: f32 one by one, bf16 in pairs (32 bits a pair), Q8_0 in
//          blocks of 32 with their scale.
//
// Every output element is one chain of fused multiply-adds over the depth in order, whatever tile
// computes it; that is what makes a row's bits independent of its batch.

/// Most rows of x that one tile multiplies.
inline constexpr std::int64_t kMaxTileRows = 12;
/// Most panels that one tile multiplies.
inline constexpr std::int64_t kMaxTilePanels = 4;
/// Most columns of a panel.
inline constexpr std::int64_t kMaxPanelCols = 32;

/// One tile: sums[row][col] (+)= block row . panel column.
struct TileArgs {
  const std::byte* block;   ///< the tile's first row pair
  const std::byte* panels;  ///< the tile's first panel
  std::int64_t depth;
  float* sums;               ///< 64-byte aligned; padding rows and columns are written too
  std::int64_t sums_stride;  ///< in floats, a multiple of panel_cols
  bool accumulate;           ///< continue the chains in `sums` rather than start at zero
  /// What will be read next: while it computes, the tile asks for `prefetch_step` floats of it per
  /// depth element, at most those of a panel. A hint.
  const std::byte* prefetch = nullptr;
  std::int64_t prefetch_step = 0;
  /// Floats from one row pair of the block to the next; 0: they are adjacent. f32 only.
  std::int64_t pair_stride = 0;
};
using TileFunction = void (*)(const TileArgs& args);

/// The kernels of one weight format for one CPU target. They allocate nothing and cannot fail.
struct GemmKernels {
  std::int64_t panel_cols;
  std::int64_t max_rows;  ///< of a tile, even

  std::int64_t depth_step;      ///< values of K in one depth element
  std::int64_t block_bytes;     ///< of one depth element of one row
  std::int64_t column_bytes;    ///< of one depth element of one panel column
  std::int64_t group_size = 0;  ///< of Q8_0: values of K whose bytes are adjacent in a panel

  /// Converts panel_cols rows of the weight, f32 [panel_cols, k], into a panel. nullptr for Q8_0,
  /// whose rows are blocks: pack_panel_q8_0().
  void (*pack_panel)(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel);
  /// Converts `rows` rows of x into a block of ceil(rows / 2) pairs, or of one lone row.
  void (*pack_block)(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                     std::byte* block);

  /// tiles[p - 1] multiplies p row pairs by one panel, for p <= max_rows / 2.
  std::array<TileFunction, kMaxTileRows / 2> tiles;
  /// Two rows, two panels.
  TileFunction pair_wide;
  /// One lone row, one panel.
  TileFunction row;
  /// One lone row, kMaxTilePanels panels: many chains for weights that a cache holds.
  TileFunction row_wide;
  /// One lone row, stream_panels panels: few streams for weights that come from memory.
  TileFunction row_stream;
  std::int64_t stream_panels;
};

/// Fills in max_rows and the tiles, which Tiles::get<rows, panels>() names. It only takes
/// addresses, so that it may be used for any target.
template <class Tiles, int kTileRows, int kStreamPanels>
constexpr void list_tiles(GemmKernels& kernels) {
  kernels.max_rows = kTileRows;
  kernels.tiles[0] = Tiles::template get<2, 1>();
  kernels.tiles[1] = Tiles::template get<4, 1>();
  if constexpr (kTileRows >= 6) kernels.tiles[2] = Tiles::template get<6, 1>();
  if constexpr (kTileRows >= 8) kernels.tiles[3] = Tiles::template get<8, 1>();
  if constexpr (kTileRows >= 12) {
    kernels.tiles[4] = Tiles::template get<10, 1>();
    kernels.tiles[5] = Tiles::template get<12, 1>();
  }
  kernels.pair_wide = Tiles::template get<2, 2>();
  kernels.row = Tiles::template get<1, 1>();
  kernels.row_wide = Tiles::template get<1, kMaxTilePanels>();
  kernels.row_stream = Tiles::template get<1, kStreamPanels>();
  kernels.stream_panels = kStreamPanels;
}

// Packing is done once per weight, so these are plain code, the same for every target.
void pack_panel_f32(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel);
/// Rows whose values are all bfloat16: their upper halves.
void pack_panel_f32_bf16(const float* rows, std::int64_t panel_cols, std::int64_t k,
                         std::byte* panel);
void pack_panel_bf16(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel);
/// Rows of `depth` blocks each, whose scales and quants go into the panel as they are.
void pack_panel_q8_0(const Q8WeightBlock* rows, std::int64_t panel_cols, std::int64_t depth,
                     std::int64_t group_size, std::byte* panel);

/// nullptr where `target` is not compiled.
const GemmKernels* gemm_f32_kernels(CpuTarget target);
/// f32 arithmetic on weights that are kept as the bfloat16 numbers they are: the bits of
/// gemm_f32_kernels() from half the memory.
const GemmKernels* gemm_f32_bf16_kernels(CpuTarget target);
const GemmKernels* gemm_bf16_kernels(CpuTarget target);
const GemmKernels* gemm_q8_0_kernels(CpuTarget target);

}  // namespace lattice
