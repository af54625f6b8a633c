// The reference backend is the specification, so it is tested against numbers worked out by hand
// or with PyTorch in float64, never against another implementation of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "backends/registry.h"
#include "ops/ops.h"

namespace lattice {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

MutMatrix view(std::vector<float>& values, std::int64_t cols) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / cols, cols};
}

class Reference : public ::testing::Test {
 protected:
  Context context_{value_or_throw(make_backend("reference")), std::make_shared<ThreadPool>(1)};
};

TEST(Registry, UnknownBackendIsNamedWithTheKnownOnes) {
  const auto backend = make_backend("abacus");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(backend.error().message, HasSubstr("abacus"));
  EXPECT_THAT(backend.error().message, HasSubstr("reference"));
}

TEST_F(Reference, LinearStacksPartsAndAddsResidualAfterTheActivation) {
  const LinearPart first{Tensor::from_floats({1, 2}, std::array{1.0f, 2.0f}),
                         Tensor::from_floats({1}, std::array{0.5f})};
  const LinearPart second{Tensor::from_floats({2, 2}, std::array{-1.0f, 0.0f, 0.0f, 3.0f}), {}};
  const std::array parts{first, second};
  const auto packed = context_.backend().pack_linear(context_.threads(), parts, WeightFormat::kF32);
  EXPECT_EQ(packed->in_features(), 2);
  EXPECT_EQ(packed->out_features(), 3);
  std::vector<float> x{1.0f, 2.0f, 3.0f, -4.0f};
  std::vector<float> residual{10.0f, 20.0f, 30.0f, 40.0f, 50.0f, 60.0f};
  std::vector<float> out(6);
  LinearArgs args{.weight = packed.get(), .x = view(x, 2), .out = view(out, 3)};
  linear(context_, args);
  EXPECT_THAT(out, ElementsAre(5.5f, -1.0f, 6.0f, -4.5f, -3.0f, -12.0f));
  args.activation = Activation::kRelu;
  args.residual = view(residual, 3);
  linear(context_, args);
  EXPECT_THAT(out, ElementsAre(15.5f, 20.0f, 36.0f, 40.0f, 50.0f, 60.0f));
}

TEST_F(Reference, LinearInBf16RoundsBothOperands) {
  // 1 + 2^-9 rounds to 1 and 1 + 2^-7 stays.
  const LinearPart part{Tensor::from_floats({1, 2}, std::array{1.0f + 0x1p-9f, 1.0f}), {}};
  const auto packed =
      context_.backend().pack_linear(context_.threads(), std::array{part}, WeightFormat::kBF16);
  std::vector<float> x{1.0f + 0x1p-7f, 1.0f + 0x1p-9f};
  std::vector<float> out(1);
  linear(context_, {.weight = packed.get(), .x = view(x, 2), .out = view(out, 1)});
  EXPECT_EQ(out[0], 2.0f + 0x1p-7f);
}

TEST_F(Reference, ActivationsMatchPyTorch) {
  const std::vector<float> x{-3.0f, -0.5f, 0.0f, 0.5f, 3.0f};
  const std::vector<std::pair<Activation, std::vector<float>>> cases = {
      {Activation::kGelu, {-0.00404969f, -0.15426877f, 0.0f, 0.34573123f, 2.99595031f}},
      {Activation::kGeluTanh, {-0.00363739f, -0.15428599f, 0.0f, 0.34571401f, 2.99636261f}},
      {Activation::kRelu, {0.0f, 0.0f, 0.0f, 0.5f, 3.0f}},
      {Activation::kSilu, {-0.14227762f, -0.18877033f, 0.0f, 0.31122967f, 2.85772238f}},
      {Activation::kTanh, {-0.99505475f, -0.46211716f, 0.0f, 0.46211716f, 0.99505475f}},
      {Activation::kSigmoid, {0.04742587f, 0.37754067f, 0.5f, 0.62245933f, 0.95257413f}},
  };
  for (const auto& [function, expected] : cases) {
    std::vector<float> y = x;
    activation(context_, {view(y, 5), function});
    EXPECT_THAT(y, Pointwise(FloatNear(2e-7f), expected)) << activation_name(function);
  }
}

TEST_F(Reference, LayerNormIsThatOfASumWithBiasedVariance) {
  std::vector<float> x{1.0f, 2.0f, 3.0f, 4.0f};
  std::vector<float> residual{0.0f, 0.0f, 0.0f, 2.0f};
  const std::vector<float> weight{1.0f, 1.0f, 2.0f, 1.0f};
  const std::vector<float> bias{0.0f, 0.0f, 0.0f, 10.0f};
  // y = 1 2 3 6: mean 3, variance 14/4.
  layer_norm(context_, {.x = view(x, 4),
                        .residual = view(residual, 4),
                        .weight = weight,
                        .bias = bias,
                        .eps = 0.5f,
                        .out = view(x, 4)});
  EXPECT_THAT(x, ElementsAre(-1.0f, -0.5f, 0.0f, 11.5f));
}

TEST_F(Reference, AttentionWeighsByScoreWithinEachSequence) {
  // head_dim 1 and scale ln 2: a score of n weighs 2^n.
  std::vector<float> q{1.0f, 1.0f, 5.0f};
  std::vector<float> k{0.0f, 1.0f, 7.0f};
  std::vector<float> v{3.0f, 6.0f, 100.0f};
  std::vector<float> out(3);
  const std::array<std::int32_t, 4> cu_seqlens{0, 2, 2, 3};
  AttentionArgs args{.q = view(q, 1),
                     .k = view(k, 1),
                     .v = view(v, 1),
                     .out = view(out, 1),
                     .layout = {cu_seqlens},
                     .num_heads = 1,
                     .num_kv_heads = 1,
                     .head_dim = 1,
                     .scale = std::numbers::ln2_v<float>};
  attention(context_, args);
  EXPECT_THAT(out, Pointwise(FloatNear(1e-6f), {5.0f, 5.0f, 100.0f}));
  args.causal = true;
  attention(context_, args);
  EXPECT_THAT(out, Pointwise(FloatNear(1e-6f), {3.0f, 5.0f, 100.0f}));
}

TEST_F(Reference, AttentionSharesKeyHeadsBetweenGroups) {
  // Four query heads over two KV heads; one token, so each head copies its group's value.
  std::vector<float> q{1.0f, 2.0f, 3.0f, 4.0f};
  std::vector<float> k{1.0f, 1.0f};
  std::vector<float> v{7.0f, 9.0f};
  std::vector<float> out(4);
  const std::array<std::int32_t, 2> cu_seqlens{0, 1};
  attention(context_, {.q = view(q, 4),
                       .k = view(k, 2),
                       .v = view(v, 2),
                       .out = view(out, 4),
                       .layout = {cu_seqlens},
                       .num_heads = 4,
                       .num_kv_heads = 2,
                       .head_dim = 1});
  EXPECT_THAT(out, ElementsAre(7.0f, 7.0f, 9.0f, 9.0f));
}

TEST_F(Reference, EmbeddingLookupSumsItsTables) {
  const Tensor words = Tensor::from_floats({3, 2}, std::array{0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f});
  const Tensor types = Tensor::from_floats({1, 2}, std::array{10.0f, 20.0f});
  const std::vector<std::int32_t> word_ids{2, 0};
  const std::vector<std::int32_t> type_ids{0, 0};
  std::vector<float> out(4);
  embedding_lookup(
      context_,
      {std::array<EmbeddingTerm, 2>{{{&words, word_ids}, {&types, type_ids}}}, view(out, 2)});
  EXPECT_THAT(out, ElementsAre(14.0f, 25.0f, 10.0f, 21.0f));
}

TEST_F(Reference, PoolingModes) {
  std::vector<float> x{1.0f, -4.0f, 2.0f, 0.0f, 6.0f, 1.0f, 9.0f, 9.0f};  // 3 tokens, 1 token
  const std::array<std::int32_t, 4> cu_seqlens{0, 3, 3, 4};
  const std::vector<std::pair<PoolingMode, std::vector<float>>> cases = {
      {PoolingMode::kCls, {1.0f, -4.0f, 0.0f, 0.0f, 9.0f, 9.0f}},
      {PoolingMode::kMax, {6.0f, 1.0f, 0.0f, 0.0f, 9.0f, 9.0f}},
      {PoolingMode::kMean, {3.0f, -1.0f, 0.0f, 0.0f, 9.0f, 9.0f}},
      {PoolingMode::kMeanSqrtLen, {5.196152f, -1.732051f, 0.0f, 0.0f, 9.0f, 9.0f}},
      {PoolingMode::kWeightedMean, {23.0f / 6, -1.0f / 6, 0.0f, 0.0f, 9.0f, 9.0f}},
      {PoolingMode::kLastToken, {6.0f, 1.0f, 0.0f, 0.0f, 9.0f, 9.0f}},
  };
  for (const auto& [mode, expected] : cases) {
    std::vector<float> out(6, kNan);
    pool(context_, {.x = view(x, 2), .layout = {cu_seqlens}, .mode = mode, .out = view(out, 2)});
    EXPECT_THAT(out, Pointwise(FloatNear(1e-6f), expected)) << static_cast<int>(mode);
  }
}

TEST_F(Reference, PoolingSkipsAPromptButKeepsPositions) {
  std::vector<float> x{100.0f, 2.0f, 5.0f, 7.0f};
  const std::array<std::int32_t, 3> cu_seqlens{0, 3, 4};
  const std::vector<std::int32_t> skip{1, 1};
  const std::vector<std::pair<PoolingMode, std::vector<float>>> cases = {
      {PoolingMode::kCls, {2.0f, 7.0f}},
      {PoolingMode::kLastToken, {5.0f, 0.0f}},
      {PoolingMode::kMean, {3.5f, 0.0f}},
      {PoolingMode::kMax, {5.0f, 0.0f}},
      {PoolingMode::kWeightedMean, {(2 * 2.0f + 3 * 5.0f) / 5, 0.0f}},
  };
  for (const auto& [mode, expected] : cases) {
    std::vector<float> out(2, kNan);
    pool(
        context_,
        {.x = view(x, 1), .layout = {cu_seqlens}, .skip = skip, .mode = mode, .out = view(out, 1)});
    EXPECT_THAT(out, Pointwise(FloatNear(1e-6f), expected)) << static_cast<int>(mode);
  }
}

TEST_F(Reference, L2NormalizeKeepsAZeroRow) {
  std::vector<float> x{3.0f, 4.0f, 0.0f, 0.0f, 0x1p-100f, 0.0f};
  l2_normalize(context_, {view(x, 2)});
  EXPECT_THAT(x, Pointwise(FloatNear(1e-7f), {0.6f, 0.8f, 0.0f, 0.0f, 0.0f, 0.0f}));
}

TEST_F(Reference, NanStaysInItsRow) {
  std::vector<float> x{1.0f, kNan, 3.0f, 4.0f};
  l2_normalize(context_, {view(x, 2)});
  EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1]));
  EXPECT_FLOAT_EQ(x[2], 0.6f);
  std::vector<float> y{kNan, 1.0f};
  activation(context_, {view(y, 2), Activation::kRelu});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1.0f);
}

}  // namespace
}  // namespace lattice
