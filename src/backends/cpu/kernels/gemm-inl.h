// Tiles of the matrix product for one Highway target: see kernels/gemm.h for the layouts.

#if defined(LATTICE_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_GEMM_INL_H_
#undef LATTICE_KERNELS_GEMM_INL_H_
#else
#define LATTICE_KERNELS_GEMM_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/vector-inl.h"
#include "base/aligned_buffer.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A panel is two vectors wide, and a tile keeps all its sums in registers: of 16 (AVX2) or 32.
inline constexpr int kPanelVectors = 2;
inline constexpr std::int64_t kPanelCols = kPanelVectors * kLanes;
#if HWY_TARGET == HWY_AVX3
inline constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kTileRows = 6;
#elif HWY_TARGET == HWY_NEON
inline constexpr int kTileRows = 8;
#else
inline constexpr int kTileRows = 4;
#endif
static_assert(kPanelCols <= kMaxPanelCols && kTileRows <= kMaxTileRows);

/// Row i of a pair-interleaved block at one depth element; kElement floats per element.
template <bool kLone>
HWY_INLINE float block_value(const float* HWY_RESTRICT a, std::int64_t pair_stride, int row,
                             int float_idx) {
  return kLone ? a[float_idx] : a[row / 2 * pair_stride + 2 * float_idx + row % 2];
}

/// sums[i][j] += x_i * columns[j], where x_i is the element's float number kFloatIdx.
template <int kFloatIdx, int kRows, int kVectors>
HWY_INLINE void multiply_add(const float* HWY_RESTRICT a, std::int64_t pair_stride,
                             const FloatVec (&columns)[kVectors],
                             FloatVec (&sums)[kRows][kVectors]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const FloatVec x =
        hn::Set(FloatTag(), block_value < kRows == 1 > (a, pair_stride, i, kFloatIdx));
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(x, columns[j], sums[i][j]);
  }
}

/// Vector j of the columns of adjacent panels at one depth element.
HWY_INLINE const float* column_vector(const float* HWY_RESTRICT b, std::int64_t panel_stride,
                                      int j) {
  return b + j / kPanelVectors * panel_stride + j % kPanelVectors * kLanes;
}

/// Asks for the cache lines of the first `count` floats, of at most kMost.
template <std::int64_t kMost>
HWY_INLINE void prefetch_lines(const float* next, std::int64_t count) {
  constexpr std::int64_t kLineFloats = 16;
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kMost; i += kLineFloats) {
    if (i == 0 || i < count) hwy::Prefetch(next + i);
  }
}

/// Calls step(a, pair_stride, b, panel_stride) for every depth element of a tile: where it lies in
/// the block and in the first panel, and how far apart row pairs and panels are.
template <class Format, int kRows, class Step>
HWY_INLINE void for_each_depth(const TileArgs& args, const Step& step) {
  const float* a = storage_cast<float>(args.block);
  const float* b = storage_cast<float>(args.panels);
  constexpr std::int64_t kStepA = Format::kBlockFloats * (kRows == 1 ? 1 : 2);
  const std::int64_t pair_stride = args.pair_stride != 0 ? args.pair_stride : args.depth * kStepA;
  const std::int64_t panel_stride = args.depth * Format::kPanelFloats;
  const float* next = storage_cast<float>(args.prefetch != nullptr ? args.prefetch : args.block);
  for (std::int64_t k = 0; k < args.depth; ++k) {
    if constexpr (kRows > 1 && Format::kPrefetchesNext) {
      prefetch_lines<Format::kPanelFloats>(next, args.prefetch_step);
      next += args.prefetch_step;
    }
    step(a, pair_stride, b, panel_stride);
    a += kStepA;
    b += Format::kPanelFloats;
  }
}

/// One tile of kRows x kPanels panels. A lone row is not interleaved with another one.
template <class Format, int kRows, int kPanels>
HWY_NOINLINE void tile(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  const FloatTag d;
  float* const out = args.sums;
  const std::int64_t stride = args.sums_stride;
  FloatVec sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::Zero(d);
  }
  if (args.accumulate) {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j] = hn::Load(d, out + i * stride + j * kLanes);
      }
    }
  }
  for_each_depth<Format, kRows>(
      args, [&](const float* a, std::int64_t pair_stride, const float* b, std::int64_t panel_stride)
                HWY_ATTR { Format::step(a, pair_stride, b, panel_stride, sums); });
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      hn::Store(sums[i][j], d, out + i * stride + j * kLanes);
    }
  }
}

/// The same for a format whose products take all registers: the sums stay where they go to. Left to
/// the compiler they would be spilled to a stack of any alignment, whose accesses that cross a
/// cache line cost half of the speed.
template <class Format, int kRows, int kPanels>
HWY_NOINLINE void tile_in_memory(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  const FloatTag d;
  if (!args.accumulate) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kVectors; ++j) {
        hn::Store(hn::Zero(d), d, args.sums + i * args.sums_stride + j * kLanes);
      }
    }
  }
  for_each_depth<Format, kRows>(args, [&](const float* a, std::int64_t pair_stride, const float* b,
                                          std::int64_t panel_stride) HWY_ATTR {
    Format::template step<kRows, kVectors>(a, pair_stride, b, panel_stride, args.sums,
                                           args.sums_stride);
  });
}

template <class Format>
struct TilesOf {
  template <int kRows, int kPanels>
  static constexpr TileFunction get() {
    if constexpr (Format::kSumsInMemory) {
      return &tile_in_memory<Format, kRows, kPanels>;
    } else {
      return &tile<Format, kRows, kPanels>;
    }
  }
};

/// out[2 i + r] = row_r[i]: a pair of rows as a block holds them.
HWY_INLINE void interleave_rows(const float* HWY_RESTRICT row0, const float* HWY_RESTRICT row1,
                                std::int64_t size, float* HWY_RESTRICT out) {
  const FloatTag d;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    hn::StoreInterleaved2(hn::LoadU(d, row0 + i), hn::LoadU(d, row1 + i), d, out + 2 * i);
  }
  for (; i < size; ++i) {
    out[2 * i] = row0[i];
    out[2 * i + 1] = row1[i];
  }
}

/// The shapes and the tiles of a format.
template <class Format>
constexpr void set_tiles(GemmKernels& kernels) {
  kernels.panel_cols = kPanelCols;
  list_tiles<TilesOf<Format>, kTileRows, Format::kStreamPanels>(kernels);
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_GEMM_INL_H_
