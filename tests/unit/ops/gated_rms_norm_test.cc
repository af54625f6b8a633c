#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 3e-6;

class GatedRmsNormTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(GatedRmsNormTest);

TEST_P(GatedRmsNormTest, EveryHeadSize) {
  for (std::int64_t size = 1; size <= 67; ++size) {
    SCOPED_TRACE(size);
    Numbers numbers(static_cast<std::uint32_t>(size));
    const Grid x(4, 3 * size, numbers);
    const Grid gate(4, 3 * size, numbers);
    const std::vector<float> weight = numbers.vector(size);
    Grid got(4, 3 * size);
    Grid expected(4, 3 * size);
    for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
      gated_rms_norm(*with,
                     {.x = x.view(), .gate = gate.view(), .weight = weight, .out = out->view()});
    }
    expect_near(got, expected, kTolerance);
    got.expect_margins_untouched();
    Grid in_place = x;
    gated_rms_norm(
        context(),
        {.x = in_place.view(), .gate = gate.view(), .weight = weight, .out = in_place.view()});
    for (std::int64_t r = 0; r < 4; ++r) expect_same_bits(in_place, r, got, r);
  }
}

// The weight is used as it is: the (1 + w) of the family's other norms would double this.
TEST_P(GatedRmsNormTest, TheWeightHasNoOffset) {
  Grid x(1, 2);
  Grid gate(1, 2);
  for (std::int64_t i = 0; i < 2; ++i) {
    x.at(0, i) = 3.0f;
    gate.at(0, i) = 40.0f;  // silu(40) = 40
  }
  const std::vector<float> weight = {1.0f, 0.0f};
  Grid out(1, 2);
  gated_rms_norm(context(), {.x = std::as_const(x).view(),
                             .gate = std::as_const(gate).view(),
                             .weight = weight,
                             .out = out.view()});
  EXPECT_NEAR(out.at(0, 0), 40.0f, 1e-4);
  EXPECT_EQ(out.at(0, 1), 0.0f);
}

}  // namespace
}  // namespace lattice
