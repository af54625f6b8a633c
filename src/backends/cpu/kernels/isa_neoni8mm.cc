#include "backends/cpu/kernels/isa_neoni8mm.h"

#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/isa_neon_q8_0.h"

#include <hwy/highway.h>

#if HWY_TARGETS & HWY_NEON

#include <utility>

namespace lattice::neoni8mm {
namespace {

using namespace neon_q8_0;

// Up to the POP only, so that no template of another file is compiled for Armv8.2 by accident.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

// Values of K that smmla multiplies: a vector holds them for two columns, or for two rows.
constexpr int kGroupSize = 8;
constexpr int kGroups = static_cast<int>(kQ8BlockSize) / kGroupSize;
constexpr std::int64_t kGroupBytes = kPanelCols * kGroupSize;

// Pair j of the columns of adjacent panels, of the group at `panel`.
HWY_INLINE int8x16_t column_pair(const std::byte* panel, std::int64_t depth, int j) {
  constexpr int kPanelPairs = static_cast<int>(kPanelCols) / 2;
  return load_bytes(panel + j / kPanelPairs * depth * kPanelBytes + j % kPanelPairs * 16);
}

// The sums of one block's products: smmla adds those of two rows and two columns at once.
template <int kRows, int kVectors>
HWY_INLINE void block_dots(const std::byte* block, const std::byte* panel, std::int64_t depth,
                           int32x4_t (&dots)[kRows][kVectors]) {
  constexpr int kPairs = kRows / 2;
  int32x4_t squares[kPairs][2 * kVectors] = {};  // [row][column] of each pair of both
#pragma GCC unroll 1
  for (int g = 0; g < kGroups; ++g) {
    int8x16_t x[kPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) x[p] = load_bytes(block + p * depth * block_step<kRows>());
#pragma GCC unroll 8
    for (int j = 0; j < 2 * kVectors; ++j) {
      const int8x16_t w = column_pair(panel, depth, j);
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) squares[p][j] = vmmlaq_s32(squares[p][j], x[p], w);
    }
    block += 2 * kGroupSize;
    panel += kGroupBytes;
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64x2_t left = vreinterpretq_s64_s32(squares[p][2 * j]);
      const int64x2_t right = vreinterpretq_s64_s32(squares[p][2 * j + 1]);
      dots[2 * p][j] = vreinterpretq_s32_s64(vzip1q_s64(left, right));
      dots[2 * p + 1][j] = vreinterpretq_s32_s64(vzip2q_s64(left, right));
    }
  }
}

// A lone row would leave half of smmla idle: sdot makes two sums of each column.
template <int kVectors>
HWY_INLINE void block_dots(const std::byte* block, const std::byte* panel, std::int64_t depth,
                           int32x4_t (&dots)[1][kVectors]) {
  int32x4_t halves[2 * kVectors] = {};
#pragma GCC unroll 1
  for (int g = 0; g < kGroups; g += 2) {
    const int64x2_t x = vreinterpretq_s64_s8(load_bytes(block));
    const int8x16_t even = vreinterpretq_s8_s64(vdupq_laneq_s64(x, 0));
    const int8x16_t odd = vreinterpretq_s8_s64(vdupq_laneq_s64(x, 1));
#pragma GCC unroll 16
    for (int j = 0; j < 2 * kVectors; ++j) {
      halves[j] = vdotq_s32(halves[j], column_pair(panel, depth, j), even);
      halves[j] = vdotq_s32(halves[j], column_pair(panel + kGroupBytes, depth, j), odd);
    }
    block += 2 * kGroupSize;
    panel += 2 * kGroupBytes;
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) dots[0][j] = vpaddq_s32(halves[2 * j], halves[2 * j + 1]);
}

template <int kRows, int kPanels>
void tile(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  float32x4_t sums[kRows][kVectors];
  load_sums(args, sums);
  const std::byte* block = args.block;
  const std::byte* panel = args.panels;
  for (std::int64_t k = 0; k < args.depth; ++k) {
    int32x4_t dots[kRows][kVectors];
    block_dots(block, panel, args.depth, dots);
    add_scaled(dots, block, panel, args.depth, sums);
    block += block_step<kRows>();
    panel += kPanelBytes;
  }
  store_sums(sums, args);
}

HWY_POP_ATTRIBUTES

// The neon target's block, in which two rows take turns by 4 bytes: here by 8.
void pack_block(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                std::byte* block) {
  lattice::gemm_q8_0_kernels(CpuTarget::kNeon)->pack_block(x, stride, rows, k, block);
  if (rows == 1) return;
  constexpr std::int64_t kWords = 2 * kRowBytes / 4;
  constexpr std::int64_t kQuantWords = 2 * kQ8BlockSize / 4;
  auto* words = storage_cast<std::uint32_t>(block);
  const std::int64_t elements = (rows + 1) / 2 * num_q8_blocks(k);
  for (std::int64_t e = 0; e < elements; ++e) {
    for (std::int64_t i = 0; i < kQuantWords; i += 4) std::swap(words[i + 1], words[i + 2]);
    words += kWords;
  }
}

struct Tiles {
  template <int kRows, int kPanels>
  static constexpr TileFunction get() {
    return &tile<kRows, kPanels>;
  }
};

GemmKernels make_kernels() {
  GemmKernels kernels = *lattice::gemm_q8_0_kernels(CpuTarget::kNeon);
  kernels.group_size = kGroupSize;
  kernels.pack_block = &pack_block;
  list_tiles<Tiles, kTileRows, 1>(kernels);
  return kernels;
}

}  // namespace
}  // namespace lattice::neoni8mm

#endif  // HWY_TARGETS & HWY_NEON

namespace lattice::neoni8mm {

const GemmKernels* gemm_kernels() {
#if HWY_TARGETS & HWY_NEON
  static const GemmKernels kernels = make_kernels();
  return &kernels;
#else
  return nullptr;
#endif
}

}  // namespace lattice::neoni8mm
