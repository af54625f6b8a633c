// The text of the AVX-512 BF16 kernels, run on plain code (see support/emulated_avx512.h).
#include "support/emulated_avx512.h"
// After it.
#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/kernels/gemm.h"
#include "support/tile_runs.h"

// Beside the library's own.
#define avx512bf16 avx512bf16_emulated
#include "backends/cpu/kernels/isa_avx512bf16.cc"

namespace lattice {
namespace {

float rounded(float value) { return to_float(to_bfloat16(value)); }

/// One output: pairs of K in order, the odd one first.
float expected_sum(std::span<const float> x, std::span<const float> w, float sum) {
  for (std::size_t i = 0; i < x.size(); i += 2) {
    if (i + 1 < x.size()) sum = std::fma(rounded(x[i + 1]), rounded(w[i + 1]), sum);
    sum = std::fma(rounded(x[i]), rounded(w[i]), sum);
  }
  return sum;
}

TEST(EmulatedAvx512Bf16, EveryTileMultipliesTheRoundedNumbersInOrder) {
  const GemmKernels* kernels = avx512bf16_emulated::gemm_kernels();
  if (kernels == nullptr) GTEST_SKIP() << "hardware: not an x86 build";
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto numbers = [&](std::int64_t size) {
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = normal(random);
    return values;
  };
  for (const TileCase& tile : all_tiles(*kernels)) {
    for (const std::int64_t k : {1, 16, 33, 54}) {
      const std::int64_t cols = tile.panels * kernels->panel_cols;
      const auto w = numbers(cols * k);
      const auto panels = pack_panels(*kernels, w, tile.panels);
      const auto x = numbers(tile.rows * k);
      const auto initial = numbers(tile.rows * cols);
      for (const bool accumulate : {false, true}) {
        const auto got =
            run_tile(*kernels, tile, x, panels, accumulate ? initial : std::vector<float>());
        for (std::size_t i = 0; i < got.size(); ++i) {
          const auto size = static_cast<std::size_t>(k);
          const auto row = i / static_cast<std::size_t>(cols);
          const auto col = i % static_cast<std::size_t>(cols);
          ASSERT_EQ(got[i], expected_sum(std::span(x).subspan(row * size, size),
                                         std::span(w).subspan(col * size, size),
                                         accumulate ? initial[i] : 0.0f))
              << tile.rows << " rows, " << tile.panels << " panels, k " << k << ", at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice
