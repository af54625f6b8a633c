// The f32 formats: a depth element is one float in blocks; in panels one float, or the upper half
// of one where all weights are bfloat16 numbers.
#include <cstring>
#include <span>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "base/aligned_buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm_f32.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

struct F32Format {
  /// Whether a tile asks for the next panel.
  static constexpr bool kPrefetchesNext = true;
  /// Whether the products leave no registers for the tile's sums.
  static constexpr bool kSumsInMemory = false;
  /// Panels that a lone row streams at once.
  static constexpr int kStreamPanels = 1;
  static constexpr std::int64_t kPanelFloats = kPanelCols;
  static constexpr std::int64_t kBlockFloats = 1;

  template <int kRows, int kVectors>
  static HWY_INLINE void step(const float* HWY_RESTRICT a, std::int64_t pair_stride,
                              const float* HWY_RESTRICT b, std::int64_t panel_stride,
                              FloatVec (&sums)[kRows][kVectors]) {
    FloatVec columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      columns[j] = hn::Load(FloatTag(), column_vector(b, panel_stride, j));
    }
    multiply_add<0>(a, pair_stride, columns, sums);
  }
};

/// Panels of upper halves. The arithmetic is F32Format's.
struct F32Bf16Format {
  /// Whether a tile asks for the next panel.
  static constexpr bool kPrefetchesNext = true;
  /// Whether the products leave no registers for the tile's sums.
  static constexpr bool kSumsInMemory = false;
  /// Panels that a lone row streams at once.
  static constexpr int kStreamPanels = 2;
  static constexpr std::int64_t kPanelFloats = kPanelCols / 2;
  static constexpr std::int64_t kBlockFloats = 1;

  template <int kRows, int kVectors>
  static HWY_INLINE void step(const float* HWY_RESTRICT a, std::int64_t pair_stride,
                              const float* HWY_RESTRICT b, std::int64_t panel_stride,
                              FloatVec (&sums)[kRows][kVectors]) {
    FloatVec columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const float* panel = b + j / kPanelVectors * panel_stride;
      columns[j] = load_upper_halves(std::as_bytes(std::span(panel, 1)).data() +
                                     j % kPanelVectors * kLanes * 2);
    }
    multiply_add<0>(a, pair_stride, columns, sums);
  }

  static HWY_INLINE FloatVec load_upper_halves(const std::byte* halves) {
    const hn::RebindToUnsigned<FloatTag> du;
    const hn::Rebind<std::uint16_t, FloatTag> dh;
    const auto bits = hn::LoadU(dh, storage_cast<std::uint16_t>(halves));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  }
};

void pack_block_f32(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                    std::byte* block) {
  auto* out = storage_cast<float>(block);
  if (rows == 1) {
    std::memcpy(out, x, static_cast<std::size_t>(k) * sizeof(float));
    return;
  }
  for (std::int64_t r = 0; r < rows; r += 2) {
    interleave_rows(x + r * stride, x + (r + 1 < rows ? r + 1 : r) * stride, k, out);
    out += 2 * k;
  }
}

template <class Format>
constexpr GemmKernels make_gemm_f32() {
  GemmKernels kernels{};
  kernels.depth_step = 1;
  kernels.block_bytes = sizeof(float);
  kernels.column_bytes = Format::kPanelFloats * sizeof(float) / kPanelCols;
  kernels.pack_block = &pack_block_f32;
  set_tiles<Format>(kernels);
  return kernels;
}

constexpr GemmKernels with_packing(GemmKernels kernels,
                                   decltype(GemmKernels::pack_panel) pack_panel) {
  kernels.pack_panel = pack_panel;
  return kernels;
}

constexpr GemmKernels kGemmF32 = with_packing(make_gemm_f32<F32Format>(), &pack_panel_f32);
constexpr GemmKernels kGemmF32Bf16 =
    with_packing(make_gemm_f32<F32Bf16Format>(), &pack_panel_f32_bf16);

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

const GemmKernels* gemm_f32_kernels(CpuTarget target) {
  static constexpr TargetTable<const GemmKernels*> kTable = LATTICE_TARGET_TABLE(kGemmF32);
  return kTable.get(target);
}

const GemmKernels* gemm_f32_bf16_kernels(CpuTarget target) {
  static constexpr TargetTable<const GemmKernels*> kTable = LATTICE_TARGET_TABLE(kGemmF32Bf16);
  return kTable.get(target);
}

}  // namespace lattice
#endif
