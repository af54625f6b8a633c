// The Q8_0 format: a depth element is a block of 32 values of K. In panels it is
// [32 / group][panel_cols][group] signed bytes, then panel_cols f16 scales; in blocks of x 32 /
// group times 32 bits, which hold a group of 4 bytes or of 2 16-bit numbers, and an f32 scale. A
// block's products are summed in integers, exactly; the blocks' sums in f32, in order.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/isa_avx512vnni.h"
#include "backends/cpu/kernels/isa_neondotprod.h"
#include "backends/cpu/kernels/isa_neoni8mm.h"
#include "backends/cpu/kernels/target_table.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"
#include "tensor/q8_0.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm_q8_0.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVec = hn::Vec<IntTag>;

/// Values of K that one lane multiplies at once. AVX2 widens bytes to 16 bits: its product of bytes
/// takes one unsigned operand, and giving that operand the sign of the other costs more.
#if HWY_TARGET == HWY_AVX2
inline constexpr int kGroupSize = 2;
#else
inline constexpr int kGroupSize = 4;
#endif
constexpr int kGroups = static_cast<int>(kQ8BlockSize) / kGroupSize;
/// Floats that the bytes of one group take, of a vector of columns and of a panel.
constexpr std::int64_t kGroupVectorFloats = kLanes * kGroupSize / 4;
constexpr std::int64_t kGroupPanelFloats = kPanelCols * kGroupSize / 4;

/// A group of weights per lane, prepared for dot_add().
struct ByteColumns {
  ByteColumns() = default;
#if HWY_TARGET == HWY_AVX2
  explicit HWY_INLINE ByteColumns(const float* bytes)
      : weights{_mm256_cvtepi8_epi16(_mm_castps_si128(_mm_load_ps(bytes)))} {}

  // Pairs of 16 bits.
  HWY_INLINE IntVec dot_add(IntVec x, IntVec sum) const {
    return IntVec{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(weights.raw, x.raw))};
  }

  IntVec weights;
#elif HWY_TARGET == HWY_AVX3
  explicit HWY_INLINE ByteColumns(const float* bytes_in)
      : bytes(hn::BitCast(IntTag(), hn::Load(FloatTag(), bytes_in))),
        magnitude{_mm512_abs_epi8(bytes.raw)} {}

  // The unsigned operand is |w|, 128 for a stored -128; the sign moves to x, which is never -128.
  // 2 * 127 * 128 fits 16 bits.
  HWY_INLINE IntVec dot_add(IntVec x, IntVec sum) const {
    const __m512i signed_x =
        _mm512_mask_sub_epi8(x.raw, _mm512_movepi8_mask(bytes.raw), _mm512_setzero_si512(), x.raw);
    const __m512i products = _mm512_maddubs_epi16(magnitude.raw, signed_x);
    return IntVec{_mm512_add_epi32(sum.raw, _mm512_madd_epi16(products, _mm512_set1_epi16(1)))};
  }

  IntVec bytes;
  IntVec magnitude;
#elif HWY_TARGET == HWY_NEON
  explicit HWY_INLINE ByteColumns(const float* bytes_in)
      : bytes(vreinterpretq_s8_f32(vld1q_f32(bytes_in))) {}

  // Pairs of products fit 16 bits, because x is never -128.
  HWY_INLINE IntVec dot_add(IntVec x_in, IntVec sum) const {
    const int8x16_t x = vreinterpretq_s8_s32(x_in.raw);
    const int16x8_t low = vmull_s8(vget_low_s8(bytes), vget_low_s8(x));
    const int16x8_t high = vmull_high_s8(bytes, x);
    return IntVec(vpadalq_s16(sum.raw, vpaddq_s16(low, high)));
  }

  int8x16_t bytes;
#else
  explicit HWY_INLINE ByteColumns(const float* bytes_in)
      : bytes(hn::BitCast(IntTag(), hn::Load(FloatTag(), bytes_in))) {}

  HWY_INLINE IntVec dot_add(IntVec x, IntVec sum) const {
    sum = hn::Add(sum, hn::Mul(byte<24>(bytes), byte<24>(x)));
    sum = hn::Add(sum, hn::Mul(byte<16>(bytes), byte<16>(x)));
    sum = hn::Add(sum, hn::Mul(byte<8>(bytes), byte<8>(x)));
    return hn::Add(sum, hn::Mul(hn::ShiftRight<24>(bytes), hn::ShiftRight<24>(x)));
  }
  template <int kShift>
  static HWY_INLINE IntVec byte(IntVec v) {
    return hn::ShiftRight<24>(hn::ShiftLeft<kShift>(v));
  }

  IntVec bytes;
#endif
};

/// The scales of one vector of columns.
HWY_INLINE FloatVec load_scales(const std::byte* scales) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::RebindToUnsigned<decltype(dh)> bits;
  return hn::PromoteTo(FloatTag(),
                       hn::BitCast(dh, hn::LoadU(bits, storage_cast<std::uint16_t>(scales))));
#else
  HWY_ALIGN float values[kLanes];
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    Float16 half;
    std::memcpy(&half, scales + lane * static_cast<std::int64_t>(sizeof(half)), sizeof(half));
    values[lane] = to_float(half);
  }
  return hn::Load(FloatTag(), values);
#endif
}

struct Q8Format {
  /// Whether a tile asks for the next panel.
  static constexpr bool kPrefetchesNext = true;
  /// Whether the products leave no registers for the tile's sums.
  static constexpr bool kSumsInMemory = true;
  /// Panels that a lone row streams at once.
  static constexpr int kStreamPanels = 1;
  static constexpr std::int64_t kPanelFloats =
      kPanelCols * (kQ8BlockSize + static_cast<std::int64_t>(sizeof(Float16))) /
      static_cast<std::int64_t>(sizeof(float));
  static constexpr std::int64_t kBlockFloats = kGroups + 1;

  /// The scales of vector `j` of the columns, of one block.
  static HWY_INLINE FloatVec column_scales(const float* panel, int j) {
    return load_scales(std::as_bytes(std::span(panel + kGroups * kGroupPanelFloats, 1)).data() +
                       j % kPanelVectors * kLanes * static_cast<std::int64_t>(sizeof(Float16)));
  }

  /// Group `g` of vector `j` of the columns of adjacent panels.
  static HWY_INLINE const float* column_group(const float* HWY_RESTRICT b,
                                              std::int64_t panel_stride, int j, int g) {
    return b + j / kPanelVectors * panel_stride + g * kGroupPanelFloats +
           j % kPanelVectors * kGroupVectorFloats;
  }

  // The integer sums of a block take the registers. Not unrolled
  // over the groups, or the compiler would keep all of their operands alive and spill.
  template <int kRows, int kVectors>
  static HWY_INLINE void step(const float* HWY_RESTRICT a, std::int64_t pair_stride,
                              const float* HWY_RESTRICT b, std::int64_t panel_stride,
                              float* HWY_RESTRICT sums, std::int64_t sums_stride) {
    constexpr bool kLone = kRows == 1;
    const FloatTag d;
    const IntTag di;
    IntVec dots[kRows][kVectors];
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) dots[i][j] = hn::Zero(di);
    }
#pragma GCC unroll 1
    for (int g = 0; g < kGroups; ++g) {
      ByteColumns w[kVectors];
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        w[j] = ByteColumns(column_group(b, panel_stride, j, g));
      }
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        const IntVec x = hn::BitCast(di, hn::Set(d, block_value<kLone>(a, pair_stride, i, g)));
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) dots[i][j] = w[j].dot_add(x, dots[i][j]);
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const FloatVec w_scales = column_scales(b + j / kPanelVectors * panel_stride, j);
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        const FloatVec scale =
            hn::Mul(w_scales, hn::Set(d, block_value<kLone>(a, pair_stride, i, kGroups)));
        float* const sum = sums + i * sums_stride + j * kLanes;
        hn::Store(hn::MulAdd(hn::ConvertTo(d, dots[i][j]), scale, hn::Load(d, sum)), d, sum);
      }
    }
  }
};

/// The greatest magnitude of 32 values; NaN when one is not finite.
HWY_INLINE float block_max(const float* values) {
  const FloatTag d;
  FloatVec max = hn::Zero(d);
  FloatVec poison = hn::Zero(d);
  for (std::int64_t i = 0; i < kQ8BlockSize; i += kLanes) {
    const FloatVec x = hn::LoadU(d, values + i);
    max = hn::Max(max, hn::Abs(x));
    poison = hn::MulAdd(x, hn::Zero(d), poison);  // NaN for NaN and infinity
  }
  return hn::GetLane(hn::MaxOfLanes(d, max)) + hn::GetLane(hn::SumOfLanes(d, poison));
}

/// What quantize_block() computes, spread over every `step`-th float of `out`.
void quantize_into(const float* values, std::int64_t step, float* out) {
  const FloatTag d;
  const float max = block_max(values);
  constexpr float kMaxQuant = 127.0f;
  out[kGroups * step] = max / kMaxQuant;
  float inverse = max > 0.0f ? kMaxQuant / max : 0.0f;
  if (inverse > std::numeric_limits<float>::max()) inverse = 0.0f;
  HWY_ALIGN std::int32_t quants[kQ8BlockSize];
  for (std::int64_t i = 0; i < kQ8BlockSize; i += kLanes) {
    hn::Store(hn::NearestInt(hn::Mul(hn::LoadU(d, values + i), hn::Set(d, inverse))), IntTag(),
              quants + i);
  }
  constexpr int kBits = 32 / kGroupSize;
  constexpr std::uint32_t kMask = (std::uint32_t{1} << kBits) - 1;
  for (int g = 0; g < kGroups; ++g) {
    std::uint32_t group = 0;
    for (int i = kGroupSize - 1; i >= 0; --i) {
      group = group << kBits | (static_cast<std::uint32_t>(quants[kGroupSize * g + i]) & kMask);
    }
    out[g * step] = std::bit_cast<float>(group);
  }
}

void quantize_row(const float* x, std::int64_t k, std::int64_t step, float* out) {
  std::int64_t i = 0;
  for (; i + kQ8BlockSize <= k; i += kQ8BlockSize) {
    quantize_into(x + i, step, out);
    out += Q8Format::kBlockFloats * step;
  }
  if (i == k) return;
  float rest[kQ8BlockSize] = {};
  std::copy(x + i, x + k, rest);
  quantize_into(rest, step, out);
}

void pack_block_q8_0(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                     std::byte* block) {
  auto* out = storage_cast<float>(block);
  if (rows == 1) return quantize_row(x, k, 1, out);
  const std::int64_t depth = num_q8_blocks(k);
  for (std::int64_t r = 0; r < rows; r += 2) {
    quantize_row(x + r * stride, k, 2, out);
    quantize_row(x + (r + 1 < rows ? r + 1 : r) * stride, k, 2, out + 1);
    out += 2 * depth * Q8Format::kBlockFloats;
  }
}

constexpr GemmKernels make_gemm_q8_0() {
  GemmKernels kernels{};
  kernels.depth_step = kQ8BlockSize;
  kernels.block_bytes = Q8Format::kBlockFloats * static_cast<std::int64_t>(sizeof(float));
  kernels.column_bytes = kQ8BlockSize + static_cast<std::int64_t>(sizeof(Float16));
  kernels.group_size = kGroupSize;
  kernels.pack_block = &pack_block_q8_0;
  set_tiles<Q8Format>(kernels);
  return kernels;
}
constexpr GemmKernels kGemmQ8 = make_gemm_q8_0();

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

const GemmKernels* gemm_q8_0_kernels(CpuTarget target) {
  static constexpr TargetTable<const GemmKernels*> kTable = LATTICE_TARGET_TABLE(kGemmQ8);
  switch (target) {
    case CpuTarget::kAvx512Vnni:
    case CpuTarget::kAvx512Bf16:
      return avx512vnni::gemm_kernels();
    case CpuTarget::kNeonDotprod:
      return neondotprod::gemm_kernels();
    case CpuTarget::kNeonI8mm:
    case CpuTarget::kNeonBf16:
      return neoni8mm::gemm_kernels();
    default:
      return kTable.get(target);
  }
}

}  // namespace lattice
#endif
