#include <bit>
#include <cmath>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

/// Largest error of each activation, per max(1, |x|).
double tolerance(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return 1.2e-7;
    case Activation::kGeluTanh:
      return 3e-7;
    case Activation::kSilu:
      return 2e-7;
    case Activation::kSigmoid:
      return 1.5e-7;
    case Activation::kTanh:
      return 4e-7;
    case Activation::kIdentity:
    case Activation::kRelu:
      return 0.0;
  }
  return 0.0;
}

class ActivationTest : public OpTest {
 protected:
  // The values one after the other, in one long row.
  std::vector<float> apply(Activation function, std::vector<float> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    activation(context(), {MutMatrix(values.data(), 1, size), function});
    return values;
  }
};
LATTICE_FOR_EACH_BACKEND(ActivationTest);

TEST_P(ActivationTest, WithinTheStatedBoundEverywhere) {
  // Dense over [-20, 20], and every magnitude of float beyond.
  std::vector<float> x;
  for (int i = -2'000'000; i <= 2'000'000; ++i) x.push_back(static_cast<float>(i) * 1e-5f);
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 65'521) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-std::bit_cast<float>(bits));
  }
  for (std::size_t a = 0; a < kNumActivations; ++a) {
    const auto function = static_cast<Activation>(a);
    const std::vector<float> y = apply(function, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = apply_activation(function, static_cast<double>(x[i]));
      const double scale = std::max(1.0, std::abs(static_cast<double>(x[i])));
      ASSERT_LE(std::abs(static_cast<double>(y[i]) - expected), tolerance(function) * scale)
          << activation_name(function) << '(' << x[i] << ") = " << y[i];
    }
  }
}

TEST_P(ActivationTest, SmallValuesKeepTheirRelativePrecision) {
  for (const Activation function : {Activation::kTanh, Activation::kGelu, Activation::kSilu}) {
    for (float x = 0x1p-100f; x < 0.01f; x *= 3.0f) {
      const double expected = apply_activation(function, static_cast<double>(x));
      EXPECT_NEAR(static_cast<double>(apply(function, {x})[0]) / expected, 1.0, 5e-7)
          << activation_name(function) << '(' << x << ')';
    }
  }
}

TEST_P(ActivationTest, EverySizeAndStride) {
  Numbers numbers(1);
  for (std::size_t a = 0; a < kNumActivations; ++a) {
    const auto function = static_cast<Activation>(a);
    for (std::int64_t cols = 0; cols <= 67; ++cols) {
      Grid got(3, cols, numbers);
      Grid expected = got;
      activation(context(), {got.view(), function});
      activation(reference(), {expected.view(), function});
      expect_near(got, expected, std::max(tolerance(function), 1e-30));
      got.expect_margins_untouched();
    }
  }
}

TEST_P(ActivationTest, NanStaysNan) {
  for (std::size_t a = 0; a < kNumActivations; ++a) {
    const auto function = static_cast<Activation>(a);
    for (const std::uint32_t bits : {0x7FC00000u, 0xFFC00000u, 0x7FC00001u, 0x7FFFFFFFu}) {
      for (std::size_t lane = 0; lane < 33; ++lane) {
        std::vector<float> x(33, 0.5f);
        x[lane] = std::bit_cast<float>(bits);
        const std::vector<float> y = apply(function, x);
        for (std::size_t i = 0; i < y.size(); ++i) {
          ASSERT_EQ(std::isnan(y[i]), i == lane) << activation_name(function) << " lane " << i;
        }
      }
    }
  }
}

TEST_P(ActivationTest, InfinitiesHaveTheirLimits) {
  EXPECT_EQ(apply(Activation::kGelu, {kInf})[0], kInf);
  EXPECT_EQ(apply(Activation::kGeluTanh, {kInf})[0], kInf);
  EXPECT_EQ(apply(Activation::kSilu, {kInf})[0], kInf);
  EXPECT_EQ(apply(Activation::kRelu, {kInf})[0], kInf);
  EXPECT_EQ(apply(Activation::kRelu, {-kInf})[0], 0.0f);
  EXPECT_EQ(apply(Activation::kTanh, {kInf})[0], 1.0f);
  EXPECT_EQ(apply(Activation::kTanh, {-kInf})[0], -1.0f);
  EXPECT_EQ(apply(Activation::kSigmoid, {kInf})[0], 1.0f);
  EXPECT_EQ(apply(Activation::kSigmoid, {-kInf})[0], 0.0f);
}

}  // namespace
}  // namespace lattice
