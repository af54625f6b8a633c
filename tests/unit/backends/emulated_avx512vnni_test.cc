// The text of the AVX-512 VNNI kernels, run on plain code (see support/emulated_avx512.h).
#include "support/emulated_avx512.h"
// After it.
#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/kernels/gemm.h"
#include "support/tile_runs.h"

// Beside the library's own.
#define avx512vnni avx512vnni_emulated
#define LATTICE_VNNI_BASE_TARGET CpuTarget::kScalar
#include "backends/cpu/kernels/isa_avx512vnni.cc"

namespace lattice {
namespace {

struct Weights {
  std::int64_t cols;
  std::int64_t depth;
  std::vector<Q8WeightBlock> blocks;  // [cols, depth]
};

Weights random_weights(std::int64_t cols, std::int64_t depth, std::mt19937& random) {
  Weights weights{cols, depth, std::vector<Q8WeightBlock>(static_cast<std::size_t>(cols * depth))};
  std::uniform_int_distribution quant(-128, 127);
  std::uniform_real_distribution<float> scale(-0.1f, 0.1f);
  for (Q8WeightBlock& block : weights.blocks) {
    block.scale = to_float16(scale(random));
    for (std::int8_t& q : block.quants) q = static_cast<std::int8_t>(quant(random));
  }
  return weights;
}

AlignedBuffer<std::byte> pack(const Weights& weights, const GemmKernels& kernels) {
  const std::int64_t panel_bytes = weights.depth * kernels.panel_cols * kernels.column_bytes;
  const std::int64_t num_panels = weights.cols / kernels.panel_cols;
  AlignedBuffer<std::byte> panels(static_cast<std::size_t>(num_panels * panel_bytes));
  for (std::int64_t p = 0; p < num_panels; ++p) {
    pack_panel_q8_0(weights.blocks.data() + p * kernels.panel_cols * weights.depth,
                    kernels.panel_cols, weights.depth, kernels.group_size,
                    panels.data() + p * panel_bytes);
  }
  return panels;
}

/// One output: the blocks' exact integer products, scaled and summed in order.
float expected_sum(std::span<const float> x, const Weights& weights, std::int64_t col, float sum) {
  for (std::int64_t d = 0; d < weights.depth; ++d) {
    const auto begin = static_cast<std::size_t>(d * kQ8BlockSize);
    const auto size = std::min<std::size_t>(kQ8BlockSize, x.size() - begin);
    const Q8Block block = quantize_block(x.subspan(begin, size));
    const Q8WeightBlock& w = weights.blocks[static_cast<std::size_t>(col * weights.depth + d)];
    std::int32_t dot = 0;
    for (std::size_t i = 0; i < std::size(w.quants); ++i) dot += block.quants[i] * w.quants[i];
    sum = std::fma(static_cast<float>(dot), to_float(w.scale) * block.scale, sum);
  }
  return sum;
}

TEST(EmulatedAvx512Vnni, EveryTileGivesTheFormatsBits) {
  const GemmKernels* kernels = avx512vnni_emulated::gemm_kernels();
  if (kernels == nullptr) GTEST_SKIP() << "hardware: not an x86 build";
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const TileCase& tile : all_tiles(*kernels)) {
    for (const std::int64_t k : {32, 96, 70}) {
      const std::int64_t cols = tile.panels * kernels->panel_cols;
      const Weights weights = random_weights(cols, num_q8_blocks(k), random);
      std::vector<float> x(static_cast<std::size_t>(tile.rows * k));
      for (float& value : x) value = normal(random);
      std::vector<float> initial(static_cast<std::size_t>(tile.rows * cols));
      for (float& value : initial) value = normal(random);
      for (const bool accumulate : {false, true}) {
        const auto start = accumulate ? initial : std::vector<float>();
        const auto got = run_tile(*kernels, tile, x, pack(weights, *kernels), start);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const auto row = i / static_cast<std::size_t>(cols);
          const auto col = static_cast<std::int64_t>(i) % cols;
          const auto values =
              std::span(x).subspan(row * static_cast<std::size_t>(k), static_cast<std::size_t>(k));
          ASSERT_EQ(got[i], expected_sum(values, weights, col, accumulate ? initial[i] : 0.0f))
              << tile.rows << " rows, " << tile.panels << " panels, k " << k << ", at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice
