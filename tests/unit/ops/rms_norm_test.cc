#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 2e-6;

class RmsNormTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(RmsNormTest);

TEST_P(RmsNormTest, EverySizeAndBothWeightForms) {
  for (std::int64_t size = 1; size <= 67; ++size) {
    SCOPED_TRACE(size);
    Numbers numbers(static_cast<std::uint32_t>(size));
    const Grid x(4, size, numbers);
    const std::vector<float> weight = numbers.vector(size);
    for (const float offset : {0.0f, 1.0f}) {
      Grid got(4, size);
      Grid expected(4, size);
      for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
        rms_norm(*with, {.x = x.view(),
                         .weight = weight,
                         .weight_offset = offset,
                         .eps = 1e-5f,
                         .out = out->view()});
      }
      expect_near(got, expected, kTolerance);
      got.expect_margins_untouched();
    }
  }
}

TEST_P(RmsNormTest, EpsilonMattersOnTinyRows) {
  Numbers numbers(1);
  Grid x(3, 40, numbers);
  for (std::int64_t r = 0; r < 3; ++r) {
    for (float& value : x.view().row_span(r)) value *= 1e-4f;
  }
  const std::vector<float> weight(40, 1.0f);
  Grid got(3, 40);
  Grid expected(3, 40);
  rms_norm(context(), {.x = x.view(), .weight = weight, .eps = 1e-6f, .out = got.view()});
  rms_norm(reference(), {.x = x.view(), .weight = weight, .eps = 1e-6f, .out = expected.view()});
  expect_near(got, expected, 1e-7);
}

TEST_P(RmsNormTest, BitsDoNotDependOnTheBatch) {
  Numbers numbers(2);
  constexpr std::int64_t kRows = 200;
  const Grid x(kRows, 131, numbers);
  const std::vector<float> weight = numbers.vector(131);
  const auto run = [&](Context& with, const Grid& input) {
    Grid out(input.rows(), 131);
    rms_norm(with, {.x = input.view(), .weight = weight, .out = out.view()});
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
  }
}

}  // namespace
}  // namespace lattice
