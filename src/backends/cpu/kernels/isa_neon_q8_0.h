// What the Q8_0 tiles of isa_neondotprod.cc and isa_neoni8mm.cc share: the f32 half of a tile, in
// plain NEON, for the panels and blocks of the neon target (gemm_q8_0.cc). All of it is inlined:
// none of it is a target's own.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"
#include "tensor/q8_0.h"

#include <hwy/base.h>

namespace lattice::neon_q8_0 {

inline constexpr int kLanes = 4;
inline constexpr int kPanelVectors = 2;
inline constexpr std::int64_t kPanelCols = kPanelVectors * kLanes;
inline constexpr int kTileRows = 8;
/// Bytes of one depth element: of a panel's quants, of a panel, and of one row of a block.
inline constexpr std::int64_t kPanelQuants = kPanelCols * kQ8BlockSize;
inline constexpr std::int64_t kPanelBytes = kPanelQuants + kPanelCols * sizeof(Float16);
inline constexpr std::int64_t kRowBytes = kQ8BlockSize + sizeof(float);

/// From one depth element of a block to the next: a lone row is not interleaved with another one.
template <int kRows>
constexpr std::int64_t block_step() {
  return kRows == 1 ? kRowBytes : 2 * kRowBytes;
}

HWY_INLINE int8x16_t load_bytes(const std::byte* bytes) {
  return vld1q_s8(storage_cast<std::int8_t>(bytes));
}

/// The chains that a tile continues, or zeros.
template <int kRows, int kVectors>
HWY_INLINE void load_sums(const TileArgs& args, float32x4_t (&sums)[kRows][kVectors]) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sums[i][j] = args.accumulate ? vld1q_f32(args.sums + i * args.sums_stride + j * kLanes)
                                   : vdupq_n_f32(0.0f);
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void store_sums(const float32x4_t (&sums)[kRows][kVectors], const TileArgs& args) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      vst1q_f32(args.sums + i * args.sums_stride + j * kLanes, sums[i][j]);
    }
  }
}

/// sums[i][j] += dots[i][j] * (scale of column j * scale of row i), as in gemm_q8_0.cc. `block` and
/// `panel` are at one depth element.
template <int kRows, int kVectors>
HWY_INLINE void add_scaled(const int32x4_t (&dots)[kRows][kVectors], const std::byte* block,
                           const std::byte* panel, std::int64_t depth,
                           float32x4_t (&sums)[kRows][kVectors]) {
  float row_scales[kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const std::byte* pair = block + i / 2 * depth * block_step<kRows>();
    const std::int64_t quants = kQ8BlockSize * (kRows == 1 ? 1 : 2);
    row_scales[i] = storage_cast<float>(pair + quants)[i % 2];
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const std::byte* scales = panel + j / kPanelVectors * depth * kPanelBytes + kPanelQuants;
    const auto halves = vld1_u16(storage_cast<std::uint16_t>(scales) + j % kPanelVectors * kLanes);
    const float32x4_t column_scales = vcvt_f32_f16(vreinterpret_f16_u16(halves));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const float32x4_t scale = vmulq_n_f32(column_scales, row_scales[i]);
      sums[i][j] = vfmaq_f32(sums[i][j], vcvtq_f32_s32(dots[i][j]), scale);
    }
  }
}

}  // namespace lattice::neon_q8_0

#endif  // __aarch64__
