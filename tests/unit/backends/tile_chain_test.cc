// A tile may continue the chains of another one: the sums of K in two parts, on every CPU target of
// this processor, have the bits of K in one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "backends/cpu/cpu_target.h"
#include "support/q8_tensors.h"
#include "support/tile_runs.h"

namespace lattice {
namespace {

std::vector<float> random_floats(std::int64_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-31f - 1.0f;
  return values;
}

// Columns [begin, end) of a row-major matrix of `rows` rows.
template <class T>
std::vector<T> columns(const std::vector<T>& matrix, std::size_t rows, std::size_t begin,
                       std::size_t end) {
  const std::size_t stride = matrix.size() / rows;
  std::vector<T> part;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(r * stride);
    part.insert(part.end(), row + static_cast<std::ptrdiff_t>(begin),
                row + static_cast<std::ptrdiff_t>(end));
  }
  return part;
}

// `weight_of(rows, k)` makes a weight whose row has k / `step` elements.
template <class MakeWeight>
void expect_chains_continue(const GemmKernels& kernels, std::size_t step,
                            const MakeWeight& weight_of) {
  constexpr std::size_t kWhole = 160;
  constexpr std::size_t kFirst = 64;
  for (const TileCase& tile : all_tiles(kernels)) {
    SCOPED_TRACE(::testing::Message() << tile.rows << " rows, " << tile.panels << " panels");
    const auto weight =
        weight_of(tile.panels * kernels.panel_cols, static_cast<std::int64_t>(kWhole));
    const auto x = random_floats(tile.rows * static_cast<std::int64_t>(kWhole), 7);
    const auto rows = static_cast<std::size_t>(tile.rows);
    const auto weight_rows = static_cast<std::size_t>(tile.panels * kernels.panel_cols);
    const auto run = [&](std::size_t begin, std::size_t end, const std::vector<float>& initial) {
      const auto part = columns(weight, weight_rows, begin / step, end / step);
      return run_tile(kernels, tile, columns(x, rows, begin, end),
                      pack_panels(kernels, part, tile.panels), initial);
    };
    const auto whole = run(0, kWhole, {});
    const auto parts = run(kFirst, kWhole, run(0, kFirst, {}));
    EXPECT_TRUE(std::ranges::equal(whole, parts, [](float a, float b) {
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    }));
  }
}

TEST(TileChains, ContinueOnEveryTarget) {
  const auto floats = [](std::int64_t rows, std::int64_t k) { return random_floats(rows * k, 3); };
  const auto blocks = [](std::int64_t rows, std::int64_t k) {
    return random_q8_blocks(rows, k, 3);
  };
  for (const CpuTarget target : available_cpu_targets(CpuFeatures::host())) {
    SCOPED_TRACE(cpu_target_name(target));
    expect_chains_continue(*gemm_f32_kernels(target), 1, floats);
    expect_chains_continue(*gemm_bf16_kernels(target), 1, floats);
    expect_chains_continue(*gemm_q8_0_kernels(target), kQ8BlockSize, blocks);
  }
}

}  // namespace
}  // namespace lattice
