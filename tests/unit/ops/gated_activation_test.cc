#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 1e-6;

class GatedActivationTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(GatedActivationTest);

TEST_P(GatedActivationTest, EverySizeAndActivation) {
  for (const Activation activation : {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh,
                                      Activation::kRelu, Activation::kSigmoid}) {
    for (std::int64_t size = 1; size <= 35; ++size) {
      SCOPED_TRACE(size);
      Numbers numbers(static_cast<std::uint32_t>(size));
      const Grid gate(3, size, numbers);
      const Grid up(3, size, numbers, 6);
      Grid got(3, size);
      Grid expected(3, size);
      for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
        gated_activation(
            *with,
            {.gate = gate.view(), .up = up.view(), .activation = activation, .out = out->view()});
      }
      expect_near(got, expected, kTolerance);
      got.expect_margins_untouched();
    }
  }
}

TEST_P(GatedActivationTest, OutputMayBeTheGate) {
  Numbers numbers(1);
  const Grid gate(5, 37, numbers);
  const Grid up(5, 37, numbers);
  Grid apart(5, 37);
  gated_activation(context(), {.gate = gate.view(), .up = up.view(), .out = apart.view()});
  Grid in_place = gate;
  gated_activation(context(), {.gate = in_place.view(), .up = up.view(), .out = in_place.view()});
  for (std::int64_t r = 0; r < 5; ++r) expect_same_bits(in_place, r, apart, r);
}

}  // namespace
}  // namespace lattice
