#include <cmath>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

/// Normalised values are a few units large.
constexpr double kTolerance = 2e-6;

class LayerNormTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(LayerNormTest);

TEST_P(LayerNormTest, EverySize) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= 67; ++size) sizes.push_back(size);
  for (const std::int64_t size : {384, 768, 1000, 1024, 4099}) sizes.push_back(size);
  for (const std::int64_t size : sizes) {
    SCOPED_TRACE(size);
    Numbers numbers(static_cast<std::uint32_t>(size));
    const Grid x(5, size, numbers);
    const Grid added(5, size, numbers, 4);
    const std::vector<float> weight = numbers.vector(size);
    const std::vector<float> bias = numbers.vector(size);
    for (const bool has_residual : {false, true}) {
      for (const bool has_bias : {false, true}) {
        Grid got(5, size);
        Grid expected(5, size);
        for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
          LayerNormArgs args{.x = x.view(), .weight = weight, .eps = 1e-5f, .out = out->view()};
          if (has_residual) args.residual = added.view();
          if (has_bias) args.bias = bias;
          layer_norm(*with, args);
        }
        expect_near(got, expected, kTolerance);
        got.expect_margins_untouched();
      }
    }
  }
}

TEST_P(LayerNormTest, OneVeryLongRow) {
  constexpr std::int64_t kSize = 1'000'003;
  Numbers numbers(1);
  const Grid x(1, kSize, numbers);
  const std::vector<float> weight(kSize, 1.0f);
  Grid got(1, kSize);
  Grid expected(1, kSize);
  layer_norm(context(), {.x = x.view(), .weight = weight, .eps = 1e-5f, .out = got.view()});
  layer_norm(reference(), {.x = x.view(), .weight = weight, .eps = 1e-5f, .out = expected.view()});
  expect_near(got, expected, 3e-5);
}

TEST_P(LayerNormTest, AMeanFarFromZeroCostsNoMoreThanItsOwnRounding) {
  Numbers numbers(2);
  Grid x(4, 384, numbers);
  for (std::int64_t r = 0; r < 4; ++r) {
    for (float& value : x.view().row_span(r)) value += 1000.0f;
  }
  const std::vector<float> weight(384, 1.0f);
  Grid got(4, 384);
  Grid expected(4, 384);
  layer_norm(context(), {.x = x.view(), .weight = weight, .eps = 1e-5f, .out = got.view()});
  layer_norm(reference(), {.x = x.view(), .weight = weight, .eps = 1e-5f, .out = expected.view()});
  expect_near(got, expected, 3e-4);
}

TEST_P(LayerNormTest, OutputMayBeAnInput) {
  Numbers numbers(3);
  const Grid x(6, 50, numbers);
  const Grid added(6, 50, numbers);
  const std::vector<float> weight = numbers.vector(50);
  Grid apart(6, 50);
  LayerNormArgs args{.x = x.view(), .weight = weight, .eps = 1e-5f, .out = apart.view()};
  args.residual = added.view();
  layer_norm(context(), args);
  Grid in_place = x;
  args.x = args.out = in_place.view();
  layer_norm(context(), args);
  Grid in_residual = added;
  args.x = x.view();
  args.residual = args.out = in_residual.view();
  layer_norm(context(), args);
  for (std::int64_t r = 0; r < 6; ++r) {
    expect_same_bits(in_place, r, apart, r);
    expect_same_bits(in_residual, r, apart, r);
  }
}

TEST_P(LayerNormTest, NanStaysInItsRow) {
  Numbers numbers(4);
  const Grid clean(7, 45, numbers);
  Grid dirty = clean;
  dirty.at(3, 44) = kNan;
  const std::vector<float> weight = numbers.vector(45);
  Grid expected(7, 45);
  Grid got(7, 45);
  layer_norm(context(), {.x = clean.view(), .weight = weight, .out = expected.view()});
  layer_norm(context(), {.x = dirty.view(), .weight = weight, .out = got.view()});
  for (std::int64_t r = 0; r < 7; ++r) {
    if (r != 3) expect_same_bits(got, r, expected, r);
  }
  for (std::int64_t c = 0; c < 45; ++c) ASSERT_TRUE(std::isnan(got.at(3, c)));
}

TEST_P(LayerNormTest, BitsDoNotDependOnTheBatch) {
  Numbers numbers(5);
  constexpr std::int64_t kRows = 300;
  constexpr std::int64_t kSize = 391;
  const Grid x(kRows, kSize, numbers);
  const std::vector<float> weight = numbers.vector(kSize);
  const auto run = [&](Context& with, const Grid& input) {
    Grid out(input.rows(), kSize);
    layer_norm(with, {.x = input.view(), .weight = weight, .eps = 1e-5f, .out = out.view()});
    return out;
  };
  const Grid expected = run(context(), x);
  for (const std::size_t num_threads : {1u, 2u, 3u}) {
    const auto with = make_context(GetParam(), num_threads);
    const auto order = shuffled(kRows, numbers);
    const Grid got = run(*with, x.select(order));
    for (std::int64_t r = 0; r < kRows; ++r) {
      expect_same_bits(got, r, expected, order[static_cast<std::size_t>(r)]);
    }
    for (std::int64_t r = 0; r < 20; ++r) {
      expect_same_bits(run(*with, x.select({r})), 0, expected, r);
    }
  }
}

TEST_P(LayerNormTest, NoRows) {
  const Grid x(0, 8);
  Grid out(0, 8);
  const std::vector<float> weight(8, 1.0f);
  layer_norm(context(), {.x = x.view(), .weight = weight, .out = out.view()});
  out.expect_margins_untouched();
}

}  // namespace
}  // namespace lattice
