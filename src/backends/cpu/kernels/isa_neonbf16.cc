#include "backends/cpu/kernels/isa_neonbf16.h"

#include "backends/cpu/kernels/hwy_targets.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"

#include <hwy/highway.h>

#if HWY_TARGETS & HWY_NEON

#include <arm_neon.h>

#include <cstring>

namespace lattice::neonbf16 {
namespace {

// Up to the POP only, so that no template of another file is compiled for Armv8.2 by accident.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+bf16")

constexpr int kTileRows = 8;
constexpr int kPanelPairs = 4;  // of columns
constexpr std::int64_t kPanelCols = 2 * kPanelPairs;
// A depth element is four bf16 values of K, in blocks and in panels: a vector holds those of two
// rows or of two columns.
constexpr std::int64_t kGroupSize = 4;
constexpr std::int64_t kGroupBytes = kGroupSize * sizeof(BFloat16);

HWY_INLINE bfloat16x8_t load_groups(const std::byte* groups) {
  return vreinterpretq_bf16_u16(vld1q_u16(storage_cast<std::uint16_t>(groups)));
}
// One row's group, twice.
HWY_INLINE bfloat16x8_t load_lone_group(const std::byte* group) {
  const uint16x4_t half = vld1_u16(storage_cast<std::uint16_t>(group));
  return vreinterpretq_bf16_u16(vcombine_u16(half, half));
}

HWY_INLINE float32x4_t left_halves(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
HWY_INLINE float32x4_t right_halves(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

// bfmmla continues four chains: of two rows and two columns, [row][column]. A lone row is both
// rows, so that its bits are those of a row in a batch.
template <int kRows, int kPairs>
HWY_INLINE void load_sums(const TileArgs& args, float32x4_t (&sums)[(kRows + 1) / 2][kPairs]) {
#pragma GCC unroll 4
  for (int p = 0; p < (kRows + 1) / 2; ++p) {
    const float* upper = args.sums + 2 * p * args.sums_stride;
    const float* lower = kRows == 1 ? upper : upper + args.sums_stride;
#pragma GCC unroll 8
    for (int j = 0; j < kPairs; j += 2) {
      const float32x4_t zero = vdupq_n_f32(0.0f);
      const float32x4_t a = args.accumulate ? vld1q_f32(upper + 2 * j) : zero;
      const float32x4_t b = args.accumulate ? vld1q_f32(lower + 2 * j) : zero;
      sums[p][j] = left_halves(a, b);
      sums[p][j + 1] = right_halves(a, b);
    }
  }
}

template <int kRows, int kPairs>
HWY_INLINE void store_sums(const float32x4_t (&sums)[(kRows + 1) / 2][kPairs],
                           const TileArgs& args) {
#pragma GCC unroll 4
  for (int p = 0; p < (kRows + 1) / 2; ++p) {
    float* upper = args.sums + 2 * p * args.sums_stride;
#pragma GCC unroll 8
    for (int j = 0; j < kPairs; j += 2) {
      vst1q_f32(upper + 2 * j, left_halves(sums[p][j], sums[p][j + 1]));
      if constexpr (kRows > 1) {
        vst1q_f32(upper + args.sums_stride + 2 * j, right_halves(sums[p][j], sums[p][j + 1]));
      }
    }
  }
}

template <int kRows, int kPanels>
void tile(const TileArgs& args) {
  constexpr int kRowPairs = (kRows + 1) / 2;
  constexpr int kPairs = kPanels * kPanelPairs;
  constexpr std::int64_t kStep = (kRows == 1 ? 1 : 2) * kGroupBytes;
  float32x4_t sums[kRowPairs][kPairs];
  load_sums<kRows>(args, sums);
  const std::byte* a = args.block;
  const std::byte* b = args.panels;
  const std::int64_t panel_bytes = args.depth * kPanelCols * kGroupBytes;
  for (std::int64_t k = 0; k < args.depth; ++k) {
    bfloat16x8_t x[kRowPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kRowPairs; ++p) {
      const std::byte* groups = a + p * args.depth * kStep;
      x[p] = kRows == 1 ? load_lone_group(groups) : load_groups(groups);
    }
#pragma GCC unroll 16
    for (int j = 0; j < kPairs; ++j) {
      const bfloat16x8_t columns =
          load_groups(b + j / kPanelPairs * panel_bytes + j % kPanelPairs * 2 * kGroupBytes);
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) sums[p][j] = vbfmmlaq_f32(sums[p][j], x[p], columns);
    }
    a += kStep;
    b += kPanelCols * kGroupBytes;
  }
  store_sums<kRows>(sums, args);
}

// Up to four values, rounded; missing ones are zeros.
HWY_INLINE void pack_group(const float* values, std::int64_t count, std::uint16_t* out) {
  float group[kGroupSize] = {};
  if (count < kGroupSize) {
    std::memcpy(group, values, static_cast<std::size_t>(count) * sizeof(float));
    values = group;
  }
  vst1_u16(out, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(values))));
}

void pack_block(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                std::byte* block) {
  auto* out = storage_cast<std::uint16_t>(block);
  for (std::int64_t r = 0; r < rows; r += 2) {
    const float* row0 = x + r * stride;
    const float* row1 = r + 1 < rows ? row0 + stride : row0;
    for (std::int64_t i = 0; i < k; i += kGroupSize) {
      pack_group(row0 + i, k - i, out);
      out += kGroupSize;
      if (rows == 1) continue;
      pack_group(row1 + i, k - i, out);
      out += kGroupSize;
    }
  }
}

HWY_POP_ATTRIBUTES

void pack_panel(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel) {
  auto* out = storage_cast<std::uint16_t>(panel);
  for (std::int64_t begin = 0; begin < k; begin += kGroupSize) {
    for (std::int64_t col = 0; col < panel_cols; ++col) {
      for (std::int64_t i = begin; i < begin + kGroupSize; ++i) {
        *out++ = i < k ? to_bfloat16(rows[col * k + i]).bits : std::uint16_t{0};
      }
    }
  }
}

struct Tiles {
  template <int kRows, int kPanels>
  static constexpr TileFunction get() {
    return &tile<kRows, kPanels>;
  }
};

constexpr GemmKernels make_kernels() {
  GemmKernels kernels{};
  kernels.panel_cols = kPanelCols;
  kernels.depth_step = kGroupSize;
  kernels.block_bytes = kGroupBytes;
  kernels.column_bytes = kGroupBytes;
  kernels.pack_panel = &pack_panel;
  kernels.pack_block = &pack_block;
  list_tiles<Tiles, kTileRows, 2>(kernels);
  return kernels;
}
constexpr GemmKernels kKernels = make_kernels();

}  // namespace
}  // namespace lattice::neonbf16

#endif  // HWY_TARGETS & HWY_NEON

namespace lattice::neonbf16 {

const GemmKernels* gemm_kernels() {
#if HWY_TARGETS & HWY_NEON
  return &kKernels;
#else
  return nullptr;
#endif
}

}  // namespace lattice::neonbf16
