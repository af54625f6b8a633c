#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 2e-6;

class CausalConv1dTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(CausalConv1dTest);

TEST_P(CausalConv1dTest, EveryWidthKernelAndActivation) {
  const std::vector<std::int32_t> cu_seqlens = {0, 1, 1, 3, 12};
  for (std::int64_t channels = 1; channels <= 35; ++channels) {
    for (const std::int64_t kernel : {1, 2, 4, 7}) {
      for (const Activation act : {Activation::kIdentity, Activation::kSilu}) {
        SCOPED_TRACE(testing::Message() << channels << " " << kernel);
        Numbers numbers(static_cast<std::uint32_t>(channels));
        const Grid x(12, channels, numbers);
        const Grid weight(kernel, channels, numbers);
        Grid got(12, channels);
        Grid expected(12, channels);
        for (auto [with, out] : {std::pair{&context(), &got}, {&reference(), &expected}}) {
          causal_conv1d(*with, {.x = x.view(),
                                .weight = weight.view(),
                                .activation = act,
                                .out = out->view(),
                                .layout = {cu_seqlens}});
        }
        expect_near(got, expected, kTolerance);
        got.expect_margins_untouched();
      }
    }
  }
}

TEST_P(CausalConv1dTest, TheLastTapIsTheCurrentToken) {
  Grid x(3, 1);
  Grid weight(2, 1);
  for (std::int64_t t = 0; t < 3; ++t) x.at(t, 0) = static_cast<float>(t + 1);  // 1 2 3
  weight.at(0, 0) = 10.0f;
  weight.at(1, 0) = 1.0f;
  Grid out(3, 1);
  const std::vector<std::int32_t> cu_seqlens = {0, 3};
  causal_conv1d(context(), {.x = std::as_const(x).view(),
                            .weight = std::as_const(weight).view(),
                            .out = out.view(),
                            .layout = {cu_seqlens}});
  EXPECT_EQ(out.at(0, 0), 1.0f);
  EXPECT_EQ(out.at(1, 0), 12.0f);
  EXPECT_EQ(out.at(2, 0), 23.0f);
}

// A sequence cut anywhere, with the inputs before the cut as history, has the bits of the whole.
TEST_P(CausalConv1dTest, HistoryContinuesASequence) {
  Numbers numbers(3);
  const std::int64_t kernel = 4;
  const Grid x(9, 21, numbers);
  const Grid weight(kernel, 21, numbers);
  Grid whole(9, 21);
  const std::vector<std::int32_t> all = {0, 9};
  causal_conv1d(context(), {.x = x.view(),
                            .weight = weight.view(),
                            .activation = Activation::kSilu,
                            .out = whole.view(),
                            .layout = {all}});
  for (std::int64_t cut = 0; cut < 9; ++cut) {
    Grid history(kernel - 1, 21);
    for (std::int64_t i = 0; i < kernel - 1; ++i) {
      const std::int64_t row = cut - (kernel - 1) + i;
      for (std::int64_t c = 0; c < 21; ++c) history.at(i, c) = row < 0 ? 0.0f : x.at(row, c);
    }
    const ConstMatrix histories[] = {std::as_const(history).view()};
    const std::vector<std::int32_t> rest = {0, static_cast<std::int32_t>(9 - cut)};
    Grid out(9 - cut, 21);
    causal_conv1d(context(), {.x = x.view().rows_between(cut, 9),
                              .weight = weight.view(),
                              .activation = Activation::kSilu,
                              .out = out.view(),
                              .layout = {rest},
                              .history = histories});
    for (std::int64_t r = cut; r < 9; ++r) expect_same_bits(out, r - cut, whole, r);
  }
}

}  // namespace
}  // namespace lattice
