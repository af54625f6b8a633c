#include <cmath>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 3e-6;

/// cos and sin of position * theta^(-2i/d).
struct Angles {
  Angles(std::int64_t positions, std::int64_t half) : cos(positions, half), sin(positions, half) {
    for (std::int64_t p = 0; p < positions; ++p) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(p) *
                             std::pow(1e4, -static_cast<double>(i) / static_cast<double>(half));
        cos.at(p, i) = static_cast<float>(std::cos(angle));
        sin.at(p, i) = static_cast<float>(std::sin(angle));
      }
    }
  }
  Grid cos;
  Grid sin;
};

class QkNormRopeTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(QkNormRopeTest);

TEST_P(QkNormRopeTest, HeadDimensionsGroupsAndPartialRotation) {
  for (const std::int64_t head_dim : {2, 4, 18, 20, 64, 80, 96, 128, 256}) {
    if (!has_heads_of(head_dim)) continue;
    for (const std::int64_t rotated : {head_dim, std::max<std::int64_t>(2, head_dim / 4 / 2 * 2)}) {
      for (const bool norm : {false, true}) {
        SCOPED_TRACE(testing::Message() << head_dim << " " << rotated << " " << norm);
        Numbers numbers(static_cast<std::uint32_t>(head_dim));
        const std::vector<std::int32_t> positions = {0, 1, 2, 9, 0, 1};
        const Angles angles(10, rotated / 2);
        const Grid q(6, 4 * head_dim, numbers);
        const Grid k(6, 2 * head_dim, numbers);
        const std::vector<float> q_weight = norm ? numbers.vector(head_dim) : std::vector<float>();
        const std::vector<float> k_weight = norm ? numbers.vector(head_dim) : std::vector<float>();
        Grid got_q = q;
        Grid got_k = k;
        Grid expected_q = q;
        Grid expected_k = k;
        const auto run = [&](Context& with, Grid& q_out, Grid& k_out) {
          qk_norm_rope(with, {.q = q_out.view(),
                              .k = k_out.view(),
                              .head_dim = head_dim,
                              .q_weight = q_weight,
                              .k_weight = k_weight,
                              .weight_offset = 1.0f,
                              .positions = positions,
                              .cos = std::as_const(angles.cos).view(),
                              .sin = std::as_const(angles.sin).view()});
        };
        run(context(), got_q, got_k);
        run(reference(), expected_q, expected_k);
        expect_near(got_q, expected_q, kTolerance);
        expect_near(got_k, expected_k, kTolerance);
        got_q.expect_margins_untouched();
      }
    }
  }
}

// The published fault: pairs (2i, 2i + 1) instead of (i, i + half).
TEST_P(QkNormRopeTest, PairsAreHalfAHeadApart) {
  Grid q(1, 4);
  for (std::int64_t i = 0; i < 4; ++i) q.at(0, i) = static_cast<float>(i + 1);  // 1 2 3 4
  Grid k = q;
  Grid cos(1, 2);
  Grid sin(1, 2);
  for (std::int64_t i = 0; i < 2; ++i) {
    cos.at(0, i) = 0.0f;
    sin.at(0, i) = 1.0f;
  }
  const std::vector<std::int32_t> positions = {0};
  qk_norm_rope(context(), {.q = q.view(),
                           .k = k.view(),
                           .head_dim = 4,
                           .positions = positions,
                           .cos = std::as_const(cos).view(),
                           .sin = std::as_const(sin).view()});
  const float expected[] = {-3.0f, -4.0f, 1.0f, 2.0f};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(q.at(0, i), expected[i]);
    EXPECT_EQ(k.at(0, i), expected[i]);
  }
}

}  // namespace
}  // namespace lattice
