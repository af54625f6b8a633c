#include "backends/cpu/kernels/isa_neondotprod.h"

#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/isa_neon_q8_0.h"

#include <hwy/highway.h>

#if HWY_TARGETS & HWY_NEON

namespace lattice::neondotprod {
namespace {

using namespace neon_q8_0;

// Up to the POP only, so that no template of another file is compiled for Armv8.2 by accident.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

constexpr int kGroupSize = 4;
constexpr int kGroups = static_cast<int>(kQ8BlockSize) / kGroupSize;

// The sums of one block's products of every row and column: sdot adds the products of four values
// of K to each lane. Not unrolled over the groups, whose operands would not fit the registers.
template <int kRows, int kVectors>
struct BlockDots {
  static constexpr bool kLone = kRows == 1;
  static constexpr int kPairs = (kRows + 1) / 2;
  /// Groups in 16 bytes of x: those of two rows take turns.
  static constexpr int kGroupsPerLoad = kLone ? 4 : 2;

  // Group kGroup of those that were loaded.
  template <int kGroup>
  HWY_INLINE void add_group(const int8x16_t (&x)[kPairs], const std::byte* panel,
                            std::int64_t panel_stride) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const int8x16_t w = load_bytes(panel + j / kPanelVectors * panel_stride +
                                     kGroup * kPanelCols * kGroupSize + j % kPanelVectors * 16);
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        if constexpr (kLone) {
          dots[p][j] = vdotq_laneq_s32(dots[p][j], w, x[p], kGroup);
        } else {
          dots[2 * p][j] = vdotq_laneq_s32(dots[2 * p][j], w, x[p], 2 * kGroup);
          dots[2 * p + 1][j] = vdotq_laneq_s32(dots[2 * p + 1][j], w, x[p], 2 * kGroup + 1);
        }
      }
    }
  }

  HWY_INLINE void add(const std::byte* block, const std::byte* panel, std::int64_t depth) {
    const std::int64_t panel_stride = depth * kPanelBytes;
#pragma GCC unroll 1
    for (int g = 0; g < kGroups; g += kGroupsPerLoad) {
      int8x16_t x[kPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) x[p] = load_bytes(block + p * depth * block_step<kRows>());
      add_group<0>(x, panel, panel_stride);
      add_group<1>(x, panel, panel_stride);
      if constexpr (kLone) {
        add_group<2>(x, panel, panel_stride);
        add_group<3>(x, panel, panel_stride);
      }
      block += 16;
      panel += kGroupsPerLoad * kPanelCols * kGroupSize;
    }
  }

  int32x4_t dots[kRows][kVectors] = {};
};

template <int kRows, int kPanels>
void tile(const TileArgs& args) {
  constexpr int kVectors = kPanels * kPanelVectors;
  float32x4_t sums[kRows][kVectors];
  load_sums(args, sums);
  const std::byte* block = args.block;
  const std::byte* panel = args.panels;
  for (std::int64_t k = 0; k < args.depth; ++k) {
    BlockDots<kRows, kVectors> sum;
    sum.add(block, panel, args.depth);
    add_scaled(sum.dots, block, panel, args.depth, sums);
    block += block_step<kRows>();
    panel += kPanelBytes;
  }
  store_sums(sums, args);
}

HWY_POP_ATTRIBUTES

struct Tiles {
  template <int kRows, int kPanels>
  static constexpr TileFunction get() {
    return &tile<kRows, kPanels>;
  }
};

GemmKernels make_kernels() {
  GemmKernels kernels = *lattice::gemm_q8_0_kernels(CpuTarget::kNeon);
  list_tiles<Tiles, kTileRows, 1>(kernels);
  return kernels;
}

}  // namespace
}  // namespace lattice::neondotprod

#endif  // HWY_TARGETS & HWY_NEON

namespace lattice::neondotprod {

const GemmKernels* gemm_kernels() {
#if HWY_TARGETS & HWY_NEON
  static const GemmKernels kernels = make_kernels();
  return &kernels;
#else
  return nullptr;
#endif
}

}  // namespace lattice::neondotprod
