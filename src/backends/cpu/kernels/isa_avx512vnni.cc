#include "backends/cpu/kernels/isa_avx512vnni.h"

#include "backends/cpu/kernels/hwy_targets.h"
#include "base/aligned_buffer.h"
#include "tensor/q8_0.h"

#include <hwy/highway.h>

#if HWY_TARGETS & HWY_AVX3

#include <immintrin.h>

namespace lattice::avx512vnni {
namespace {

// Up to the POP only, so that no template of another file is compiled for AVX-512 by accident.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")

constexpr int kTileRows = 12;
constexpr int kPanelVectors = 2;
constexpr std::int64_t kPanelCols = 32;
constexpr int kGroups = kQ8BlockSize / 4;
constexpr std::int64_t kVectorBytes = 64;
constexpr std::int64_t kScalesOffset = kGroups * kPanelVectors * kVectorBytes;
constexpr std::int64_t kDepthBytes = kScalesOffset + kPanelVectors * kVectorBytes / 2;
// Words of a block's depth element of one row: the groups, each of 4 bytes, and the scale.
constexpr std::int64_t kBlockWords = kGroups + 1;
// vpdpbusd multiplies unsigned by signed bytes, so x is stored 128 too high: 0 to 255.
constexpr std::uint32_t kOffsetBytes = 0x80808080;
// g++ 12 takes the other lanes of unmasked conversions for uninitialised.
constexpr std::uint16_t kAllLanes = 0xFFFF;

/// The sums over one depth element: the products of x + 128, less 128 times the weights' sum, which
/// all rows share. Exact, as the products of any other target are.
template <int kRows, int kVectors>
struct BlockDots {
  void add_group(const std::int32_t* a, std::int64_t pair_stride, const std::byte* b,
                 std::int64_t panel_bytes) {
    __m512i columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      columns[j] =
          _mm512_load_si512(b + j / kPanelVectors * panel_bytes + j % kPanelVectors * kVectorBytes);
      excess[j] = _mm512_dpbusd_epi32(excess[j], _mm512_set1_epi32(static_cast<int>(kOffsetBytes)),
                                      columns[j]);
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const __m512i x = _mm512_set1_epi32(a[kRows == 1 ? 0 : i / 2 * pair_stride + i % 2]);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        dots[i][j] = _mm512_dpbusd_epi32(dots[i][j], x, columns[j]);
      }
    }
  }

  __m512i dots[kRows][kVectors];
  __m512i excess[kVectors];
};

/// sums += the element's products times the scales of x and of the weights.
template <int kRows, int kVectors>
void step(const std::int32_t* a, std::int64_t pair_stride, const std::byte* b,
          std::int64_t panel_bytes, float* sums, std::int64_t sums_stride) {
  constexpr std::int64_t kInterleaved = kRows == 1 ? 1 : 2;
  BlockDots<kRows, kVectors> block;
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    block.excess[j] = _mm512_setzero_si512();
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) block.dots[i][j] = _mm512_setzero_si512();
  }
  // Not unrolled, or the compiler would keep the operands of several groups alive and spill.
#pragma GCC unroll 1
  for (int g = 0; g < kGroups; ++g) {
    block.add_group(a + g * kInterleaved, pair_stride, b + g * kPanelVectors * kVectorBytes,
                    panel_bytes);
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const std::byte* scales = b + j / kPanelVectors * panel_bytes + kScalesOffset +
                              j % kPanelVectors * (kVectorBytes / 2);
    const __m512 w_scales =
        _mm512_maskz_cvtph_ps(kAllLanes, _mm256_load_si256(storage_cast<__m256i>(scales)));
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const std::int32_t* row = a + (kRows == 1 ? 0 : i / 2 * pair_stride + i % 2);
      const auto x_scale = __builtin_bit_cast(float, row[kGroups * kInterleaved]);
      const __m512 dots =
          _mm512_maskz_cvtepi32_ps(kAllLanes, _mm512_sub_epi32(block.dots[i][j], block.excess[j]));
      float* const sum = sums + i * sums_stride + j * 16;
      _mm512_store_ps(sum, _mm512_fmadd_ps(dots, _mm512_mul_ps(w_scales, _mm512_set1_ps(x_scale)),
                                           _mm512_load_ps(sum)));
    }
  }
}

// The products take all registers, so the sums stay where they go to.
template <int kRows, int kPanels>
void tile(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  constexpr std::int64_t kStepA = kRows == 1 ? kBlockWords : 2 * kBlockWords;
  for (int i = 0; i < kRows && !args.accumulate; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      _mm512_store_ps(args.sums + i * args.sums_stride + j * 16, _mm512_setzero_ps());
    }
  }
  const auto* a = storage_cast<std::int32_t>(args.block);
  const std::byte* b = args.panels;
  for (std::int64_t k = 0; k < args.depth; ++k, a += kStepA, b += kDepthBytes) {
    step<kRows, kVectors>(a, args.depth * kStepA, b, args.depth * kDepthBytes, args.sums,
                          args.sums_stride);
  }
}

HWY_POP_ATTRIBUTES

#ifndef LATTICE_VNNI_BASE_TARGET  // a test's, where AVX-512 is emulated
#define LATTICE_VNNI_BASE_TARGET CpuTarget::kAvx512
#endif

/// Quantizes like the avx512 target, then moves the bytes.
void pack_block(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t k,
                std::byte* block) {
  gemm_q8_0_kernels(LATTICE_VNNI_BASE_TARGET)->pack_block(x, stride, rows, k, block);
  auto* words = storage_cast<std::uint32_t>(block);
  const std::int64_t interleaved = rows == 1 ? 1 : 2;
  const std::int64_t depth = num_q8_blocks(k);
  for (std::int64_t element = 0; element < (rows + 1) / 2 * depth; ++element) {
    for (std::int64_t i = 0; i < kGroups * interleaved; ++i) words[i] ^= kOffsetBytes;
    words += kBlockWords * interleaved;
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
  kernels.depth_step = kQ8BlockSize;
  kernels.block_bytes = kBlockWords * 4;
  kernels.column_bytes = kDepthBytes / kPanelCols;
  kernels.group_size = 4;
  kernels.pack_block = &pack_block;
  list_tiles<Tiles, kTileRows, 1>(kernels);
  return kernels;
}
constexpr GemmKernels kKernels = make_kernels();

}  // namespace
}  // namespace lattice::avx512vnni

#endif  // HWY_TARGETS & HWY_AVX3

namespace lattice::avx512vnni {

const GemmKernels* gemm_kernels() {
#if HWY_TARGETS & HWY_AVX3
  return &kKernels;
#else
  return nullptr;
#endif
}

}  // namespace lattice::avx512vnni
