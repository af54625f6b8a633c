// The bf16 format where the processor has no bf16 dot product: both operands are rounded to bf16,
// products and sums are f32. A depth element is two values of K: 32 bits in panels (the even one in
// the low half), two floats that hold bf16 values in blocks.
#include <algorithm>
#include <bit>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/isa_avx512bf16.h"
#include "backends/cpu/kernels/target_table.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm_bf16.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

struct Bf16Format {
  /// Whether a tile asks for the next panel: no, the registers do not suffice.
  static constexpr bool kPrefetchesNext = false;
  /// Whether the products leave no registers for the tile's sums.
  static constexpr bool kSumsInMemory = false;
  /// Panels that a lone row streams at once.
  static constexpr int kStreamPanels = 2;
  static constexpr std::int64_t kPanelFloats = kPanelCols;
  static constexpr std::int64_t kBlockFloats = 2;

  template <int kRows, int kVectors>
  static HWY_INLINE void step(const float* HWY_RESTRICT a, std::int64_t pair_stride,
                              const float* HWY_RESTRICT b, std::int64_t panel_stride,
                              FloatVec (&sums)[kRows][kVectors]) {
    const hn::RebindToUnsigned<FloatTag> du;
    FloatVec columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const auto bits = hn::BitCast(du, hn::Load(FloatTag(), column_vector(b, panel_stride, j)));
      columns[j] = hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
    }
    multiply_add<0>(a, pair_stride, columns, sums);
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const auto bits = hn::BitCast(du, hn::Load(FloatTag(), column_vector(b, panel_stride, j)));
      columns[j] = hn::BitCast(FloatTag(), hn::And(bits, hn::Set(du, 0xFFFF0000u)));
    }
    multiply_add<1>(a, pair_stride, columns, sums);
  }
};

/// Rounds to the nearest bf16, ties to even; NaN stays NaN.
HWY_INLINE FloatVec round_to_bf16(FloatVec x) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
  const auto kept = hn::BitCast(d, hn::And(rounded, hn::Set(du, 0xFFFF0000u)));
  return hn::IfThenElse(hn::IsNaN(x), hn::Set(d, std::bit_cast<float>(0x7FC00000u)), kept);
}

void round_values(float* HWY_RESTRICT values, std::int64_t count) {
  const FloatTag d;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(round_to_bf16(hn::LoadU(d, values + i)), d, values + i);
  }
  for (; i < count; ++i) values[i] = to_float(to_bfloat16(values[i]));
}

void pack_block_bf16(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                     std::byte* block) {
  auto* out = storage_cast<float>(block);
  const std::int64_t padded = k + k % 2;
  if (rows == 1) {
    std::copy_n(x, k, out);
    if (k < padded) out[k] = 0.0f;
    return round_values(out, padded);
  }
  for (std::int64_t r = 0; r < rows; r += 2) {
    interleave_rows(x + r * stride, x + (r + 1 < rows ? r + 1 : r) * stride, k, out);
    if (k < padded) out[2 * k] = out[2 * k + 1] = 0.0f;
    round_values(out, 2 * padded);
    out += 2 * padded;
  }
}

constexpr GemmKernels make_gemm_bf16() {
  GemmKernels kernels{};
  kernels.depth_step = 2;
  kernels.block_bytes = 2 * sizeof(float);
  kernels.column_bytes = 2 * sizeof(BFloat16);
  kernels.pack_panel = &pack_panel_bf16;
  kernels.pack_block = &pack_block_bf16;
  set_tiles<Bf16Format>(kernels);
  return kernels;
}
constexpr GemmKernels kGemmBf16 = make_gemm_bf16();

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

const GemmKernels* gemm_bf16_kernels(CpuTarget target) {
  static constexpr TargetTable<const GemmKernels*> kTable = LATTICE_TARGET_TABLE(kGemmBf16);
  return target == CpuTarget::kAvx512Bf16 ? avx512bf16::gemm_kernels() : kTable.get(target);
}

}  // namespace lattice
#endif
