#include "backends/cpu/kernels/isa_avx512bf16.h"

#include "backends/cpu/kernels/hwy_targets.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"

#include <hwy/highway.h>

#if HWY_TARGETS & HWY_AVX3

#include <immintrin.h>

#include <cstring>

namespace lattice::avx512bf16 {
namespace {

// Up to the POP only, so that no template of another file is compiled for AVX-512 by accident.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")

constexpr int kTileRows = 12;
constexpr int kPanelVectors = 2;
constexpr std::int64_t kPanelCols = 32;

// A depth element is two bf16 values of K in 32 bits, the even one low, in blocks and in panels.
template <int kRows, int kPanels>
void tile(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  constexpr std::int64_t kStepA = kRows == 1 ? 1 : 2;
  float* const out = args.sums;
  const std::int64_t stride = args.sums_stride;
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sums[i][j] =
          args.accumulate ? _mm512_load_ps(out + i * stride + j * 16) : _mm512_setzero_ps();
    }
  }
  const auto* a = storage_cast<std::int32_t>(args.block);
  const std::byte* b = args.panels;
  const std::int64_t pair_stride = args.depth * kStepA;
  const std::int64_t panel_bytes = args.depth * kPanelCols * 4;
  for (std::int64_t k = 0; k < args.depth; ++k) {
    __m512bh columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      columns[j] = __builtin_bit_cast(
          __m512bh,
          _mm512_load_si512(b + j / kPanelVectors * panel_bytes + j % kPanelVectors * 64));
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const auto x =
          __builtin_bit_cast(__m512bh, _mm512_set1_epi32(a[i / 2 * pair_stride + i % 2]));
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j] = _mm512_dpbf16_ps(sums[i][j], x, columns[j]);
      }
    }
    a += kStepA;
    b += kPanelCols * 4;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      _mm512_store_ps(out + i * stride + j * 16, sums[i][j]);
    }
  }
}

std::uint32_t pair_bits(const float* row, std::int64_t i, std::int64_t k) {
  const std::uint32_t odd = i + 1 < k ? to_bfloat16(row[i + 1]).bits : 0;
  return odd << 16 | to_bfloat16(row[i]).bits;
}

__m256i eight_pairs(const float* values) {
  return __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(_mm512_loadu_ps(values)));
}

void pack_lone_row(const float* row, std::int64_t k, std::uint32_t* out) {
  std::int64_t i = 0;
  for (; i + 16 <= k; i += 16) {
    _mm256_storeu_epi32(out + i / 2, eight_pairs(row + i));
  }
  for (; i < k; i += 2) out[i / 2] = pair_bits(row, i, k);
}

void pack_row_pair(const float* row0, const float* row1, std::int64_t k, std::uint32_t* out) {
  std::int64_t i = 0;
  for (; i + 16 <= k; i += 16) {
    const __m256i pairs0 = eight_pairs(row0 + i);
    const __m256i pairs1 = eight_pairs(row1 + i);
    const __m256i low = _mm256_unpacklo_epi32(pairs0, pairs1);
    const __m256i high = _mm256_unpackhi_epi32(pairs0, pairs1);
    _mm256_storeu_epi32(out + i, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_epi32(out + i + 8, _mm256_permute2x128_si256(low, high, 0x31));
  }
  for (; i < k; i += 2) {
    out[i] = pair_bits(row0, i, k);
    out[i + 1] = pair_bits(row1, i, k);
  }
}

void pack_block(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                std::byte* block) {
  auto* out = storage_cast<std::uint32_t>(block);
  if (rows == 1) return pack_lone_row(x, k, out);
  for (std::int64_t r = 0; r < rows; r += 2) {
    pack_row_pair(x + r * stride, x + (r + 1 < rows ? r + 1 : r) * stride, k, out);
    out += 2 * ((k + 1) / 2);
  }
}

HWY_POP_ATTRIBUTES

struct Tiles {
  template <int kRows, int kPanels>
  static constexpr TileFunction get() {
    return &tile<kRows, kPanels>;
  }
};

constexpr GemmKernels make_kernels() {
  GemmKernels kernels{};
  kernels.panel_cols = kPanelCols;
  kernels.depth_step = 2;
  kernels.block_bytes = 4;
  kernels.column_bytes = 4;
  kernels.pack_panel = &pack_panel_bf16;
  kernels.pack_block = &pack_block;
  list_tiles<Tiles, kTileRows, 2>(kernels);
  return kernels;
}
constexpr GemmKernels kKernels = make_kernels();

}  // namespace
}  // namespace lattice::avx512bf16

#endif  // HWY_TARGETS & HWY_AVX3

namespace lattice::avx512bf16 {

const GemmKernels* gemm_kernels() {
#if HWY_TARGETS & HWY_AVX3
  return &kKernels;
#else
  return nullptr;
#endif
}

}  // namespace lattice::avx512bf16
