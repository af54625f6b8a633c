// The text of the AVX-512 VNNI kernels, run on plain code (see support/emulated_avx512.h).
#include "support/emulated_avx512.h"
// After it.
#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/kernels/gemm.h"
#include "support/q8_tensors.h"
#include "support/tile_runs.h"

// Beside the library's own.
#define avx512vnni avx512vnni_emulated
#define LATTICE_VNNI_BASE_TARGET CpuTarget::kScalar
#include "backends/cpu/kernels/isa_avx512vnni.cc"

namespace lattice {
namespace {

/// One output: the blocks' exact integer products, scaled and summed in order.
float expected_sum(std::span<const float> x, std::span<const Q8WeightBlock> row, float sum) {
  for (std::size_t d = 0; d < row.size(); ++d) {
    const std::size_t begin = d * kQ8BlockSize;
    const auto size = std::min<std::size_t>(kQ8BlockSize, x.size() - begin);
    const Q8Block block = quantize_block(x.subspan(begin, size));
    const Q8WeightBlock& w = row[d];
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
      const auto weight = random_q8_blocks(cols, k, static_cast<std::uint32_t>(random()));
      std::vector<float> x(static_cast<std::size_t>(tile.rows * k));
      for (float& value : x) value = normal(random);
      std::vector<float> initial(static_cast<std::size_t>(tile.rows * cols));
      for (float& value : initial) value = normal(random);
      for (const bool accumulate : {false, true}) {
        const auto start = accumulate ? initial : std::vector<float>();
        const auto got =
            run_tile(*kernels, tile, x, pack_panels(*kernels, weight, tile.panels), start);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const auto row = i / static_cast<std::size_t>(cols);
          const auto col = i % static_cast<std::size_t>(cols);
          const auto values =
              std::span(x).subspan(row * static_cast<std::size_t>(k), static_cast<std::size_t>(k));
          const auto depth = static_cast<std::size_t>(num_q8_blocks(k));
          ASSERT_EQ(got[i], expected_sum(values, std::span(weight).subspan(col * depth, depth),
                                         accumulate ? initial[i] : 0.0f))
              << tile.rows << " rows, " << tile.panels << " panels, k " << k << ", at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice
