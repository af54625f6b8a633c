#include <cmath>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 1e-6;

constexpr PoolingMode kModes[] = {PoolingMode::kCls,          PoolingMode::kMax,
                                  PoolingMode::kMean,         PoolingMode::kMeanSqrtLen,
                                  PoolingMode::kWeightedMean, PoolingMode::kLastToken};

class PoolTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(PoolTest);

TEST_P(PoolTest, EveryModeAndSize) {
  const std::vector<std::int32_t> cu_seqlens{0, 1, 1, 4, 60, 61};
  const std::vector<std::int32_t> skip{0, 0, 1, 9, 1};
  for (const PoolingMode mode : kModes) {
    for (std::int64_t cols = 1; cols <= 67; ++cols) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(mode) << ", " << cols << " columns");
      Numbers numbers(static_cast<std::uint32_t>(cols));
      const Grid x(61, cols, numbers);
      for (const bool skips : {false, true}) {
        Grid got(5, cols);
        Grid expected(5, cols);
        for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
          PoolArgs args{.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = out->view()};
          if (skips) args.skip = skip;
          pool(*with, args);
        }
        expect_near(got, expected, mode == PoolingMode::kMeanSqrtLen ? 4 * kTolerance : kTolerance);
        got.expect_margins_untouched();
      }
    }
  }
}

TEST_P(PoolTest, ManySequencesOnSeveralThreads) {
  Numbers numbers(1);
  std::vector<std::int32_t> cu_seqlens{0};
  for (int s = 0; s < 300; ++s) cu_seqlens.push_back(cu_seqlens.back() + numbers.below(9));
  const Grid x(cu_seqlens.back(), 130, numbers);
  for (const PoolingMode mode : kModes) {
    Grid expected(300, 130);
    pool(reference(),
         {.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = expected.view()});
    for (const std::size_t num_threads : {1u, 3u}) {
      const auto with = make_context(GetParam(), num_threads);
      Grid got(300, 130);
      pool(*with, {.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = got.view()});
      expect_near(got, expected, kTolerance);
    }
  }
}

TEST_P(PoolTest, NanStaysInItsSequence) {
  Numbers numbers(2);
  Grid x(12, 20, numbers);
  x.at(5, 7) = kNan;
  const std::vector<std::int32_t> cu_seqlens{0, 4, 8, 12};
  for (const PoolingMode mode : kModes) {
    Grid got(3, 20);
    Grid expected(3, 20);
    pool(context(), {.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = got.view()});
    pool(reference(),
         {.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = expected.view()});
    expect_near(got, expected, kTolerance);
    const bool sees_it = mode != PoolingMode::kCls && mode != PoolingMode::kLastToken;
    EXPECT_EQ(std::isnan(got.at(1, 7)), sees_it);
  }
}

TEST_P(PoolTest, L2NormalizeEverySize) {
  for (std::int64_t cols = 0; cols <= 67; ++cols) {
    Numbers numbers(static_cast<std::uint32_t>(cols));
    Grid got(4, cols, numbers);
    if (cols > 0) {
      for (float& value : got.view().row_span(1)) value = 0.0f;
      got.at(2, cols - 1) = kNan;
    }
    Grid expected = got;
    l2_normalize(context(), {got.view()});
    l2_normalize(reference(), {expected.view()});
    expect_near(got, expected, 2e-7);
    got.expect_margins_untouched();
  }
}

}  // namespace
}  // namespace lattice
