#include <cmath>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr double kTolerance = 2e-5;

/// Memory for a DeltaRuleState.
struct StateMemory {
  explicit StateMemory(const DeltaRuleShape& shape)
      : matrix(size(shape.num_value_heads * shape.key_head_dim * shape.value_stride())),
        keys(size(shape.num_key_heads * shape.key_head_dim * kDeltaRuleChunk)),
        deltas(size(shape.num_value_heads * kDeltaRuleChunk * shape.value_stride())),
        decays(size(shape.num_value_heads * kDeltaRuleChunk)) {
    view = {matrix.data(), keys.data(), deltas.data(), decays.data(), 0};
  }
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  std::vector<float> matrix, keys, deltas;
  std::vector<double> decays;
  DeltaRuleState view;
};

/// Inputs of a batch. `decay` scales a: large values forget at once.
struct Inputs {
  Inputs(const DeltaRuleShape& shape_in, std::int64_t tokens, float decay = 1.0f,
         std::uint32_t seed = 1)
      : Inputs(shape_in, tokens, decay, Numbers(seed)) {}
  Inputs(const DeltaRuleShape& shape_in, std::int64_t tokens, float decay, Numbers numbers)
      : shape(shape_in),
        q(tokens, shape.key_dim(), numbers),
        k(tokens, shape.key_dim(), numbers),
        v(tokens, shape.value_dim(), numbers),
        a(tokens, shape.num_value_heads, numbers),
        b(tokens, shape.num_value_heads, numbers),
        a_log(numbers.vector(shape.num_value_heads)),
        dt_bias(numbers.vector(shape.num_value_heads)) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t h = 0; h < shape.num_value_heads; ++h) {
        a.at(t, h) = a.at(t, h) * decay - 2.0f;
        b.at(t, h) *= 4.0f;
      }
    }
  }

  /// Rows [begin, end) as sequences with the given ends, counted from `begin`.
  Grid run(Context& context, std::int64_t begin, std::int64_t end,
           std::vector<std::int32_t> cu_seqlens, std::vector<DeltaRuleState*> states = {}) const {
    Grid out(end - begin, shape.value_dim());
    gated_delta_rule(context, {.shape = shape,
                               .q = q.view().rows_between(begin, end),
                               .k = k.view().rows_between(begin, end),
                               .v = v.view().rows_between(begin, end),
                               .a = a.view().rows_between(begin, end),
                               .b = b.view().rows_between(begin, end),
                               .a_log = a_log,
                               .dt_bias = dt_bias,
                               .out = out.view(),
                               .layout = {cu_seqlens},
                               .states = states});
    out.expect_margins_untouched();
    return out;
  }
  Grid run_whole(Context& context) const {
    return run(context, 0, q.rows(), {0, static_cast<std::int32_t>(q.rows())});
  }

  DeltaRuleShape shape;
  Grid q, k, v, a, b;
  std::vector<float> a_log, dt_bias;
};

class GatedDeltaRuleTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(GatedDeltaRuleTest);

TEST_P(GatedDeltaRuleTest, EveryShape) {
  for (const DeltaRuleShape& shape :
       {DeltaRuleShape{1, 1, 1, 1}, DeltaRuleShape{2, 4, 5, 7}, DeltaRuleShape{2, 2, 16, 16},
        DeltaRuleShape{1, 3, 24, 33}, DeltaRuleShape{2, 6, 32, 16},
        DeltaRuleShape{4, 4, 128, 128}}) {
    for (const std::int64_t tokens : {1, 2, 63, 64, 65, 200}) {
      SCOPED_TRACE(testing::Message()
                   << shape.num_value_heads << " " << shape.value_head_dim << " " << tokens);
      const Inputs inputs(shape, tokens);
      expect_near(inputs.run_whole(context()), inputs.run_whole(reference()), kTolerance);
    }
  }
}

// Heads that forget at once, and heads that never do: no NaN from exp(G) exp(-G).
TEST_P(GatedDeltaRuleTest, FastAndSlowDecays) {
  for (const float decay : {0.0f, 10.0f, 200.0f, -300.0f}) {
    const Inputs inputs({2, 4, 16, 16}, 150, decay);
    expect_near(inputs.run_whole(context()), inputs.run_whole(reference()), kTolerance);
  }
}

// Heads that hardly forget, over many chunks: errors must not pile up.
TEST_P(GatedDeltaRuleTest, LongSequencesDoNotDrift) {
  Inputs inputs({1, 1, 16, 16}, 4100, 0.5f);
  for (std::int64_t t = 0; t < 4100; ++t) inputs.a.at(t, 0) -= 5.0f;
  expect_near(inputs.run_whole(context()), inputs.run_whole(reference()), 1e-4);
}

TEST_P(GatedDeltaRuleTest, RepeatedTokens) {
  Inputs inputs({1, 2, 32, 32}, 200, 0.0f);
  for (std::int64_t t = 1; t < 200; ++t) {
    for (std::int64_t c = 0; c < 32; ++c) {
      inputs.k.at(t, c) = inputs.k.at(0, c);
      inputs.q.at(t, c) = inputs.q.at(0, c);
    }
  }
  expect_near(inputs.run_whole(context()), inputs.run_whole(reference()), kTolerance);
}

// One step by hand: S = k delta^T, out = S^T q.
TEST_P(GatedDeltaRuleTest, OneTokenIsItsScaledValue) {
  Inputs inputs({1, 1, 4, 2}, 1);
  const float k[] = {3.0f, 0.0f, 4.0f, 0.0f};
  const float q[] = {0.0f, 0.0f, 2.0f, 0.0f};
  for (std::int64_t i = 0; i < 4; ++i) {
    inputs.k.at(0, i) = k[i];
    inputs.q.at(0, i) = q[i];
  }
  const Grid out = inputs.run_whole(context());
  const double beta = 1.0 / (1.0 + std::exp(-static_cast<double>(inputs.b.at(0, 0))));
  // k . q of unit vectors is 0.8; q is divided by sqrt(4).
  for (std::int64_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(out.at(0, c), beta * static_cast<double>(inputs.v.at(0, c)) * 0.8 / 2.0, 1e-6);
  }
}

// The published fault: decays per key head where there are more value heads.
TEST_P(GatedDeltaRuleTest, DecayAndBetaBelongToTheValueHead) {
  const Inputs inputs({1, 2, 8, 8}, 40);
  Inputs other = inputs;
  for (std::int64_t t = 0; t < 40; ++t) other.a.at(t, 1) += 3.0f;
  const Grid before = inputs.run_whole(context());
  const Grid after = other.run_whole(context());
  double first = 0.0;
  double second = 0.0;
  for (std::int64_t c = 0; c < 8; ++c) {
    first += std::abs(static_cast<double>(after.at(39, c) - before.at(39, c)));
    second += std::abs(static_cast<double>(after.at(39, 8 + c) - before.at(39, 8 + c)));
  }
  EXPECT_EQ(first, 0.0);
  EXPECT_GT(second, 1e-3);
}

// Any way to cut a sequence into calls gives the same bits, down to single tokens.
TEST_P(GatedDeltaRuleTest, EverySplitHasTheBitsOfTheWhole) {
  const std::int64_t tokens = 200;
  const Inputs inputs({2, 4, 24, 20}, tokens);
  const Grid whole = inputs.run_whole(context());
  for (const std::int64_t step : {1, 3, 63, 64, 65, 100, 199}) {
    SCOPED_TRACE(step);
    StateMemory memory(inputs.shape);
    for (std::int64_t begin = 0; begin < tokens; begin += step) {
      const std::int64_t end = std::min(begin + step, tokens);
      const Grid part = inputs.run(context(), begin, end,
                                   {0, static_cast<std::int32_t>(end - begin)}, {&memory.view});
      for (std::int64_t r = begin; r < end; ++r) expect_same_bits(part, r - begin, whole, r);
    }
  }
}

TEST_P(GatedDeltaRuleTest, DroppingPendingTokensRewindsExactly) {
  const Inputs inputs({2, 2, 16, 16}, 128);
  const Grid whole = inputs.run_whole(context());
  StateMemory memory(inputs.shape);
  inputs.run(context(), 0, 70, {0, 70}, {&memory.view});
  EXPECT_EQ(memory.view.num_pending, 6);
  // Six other tokens, dropped again.
  inputs.run(context(), 100, 106, {0, 6}, {&memory.view});
  EXPECT_EQ(memory.view.num_pending, 12);
  memory.view.num_pending = 6;
  const Grid part = inputs.run(context(), 70, 128, {0, 58}, {&memory.view});
  for (std::int64_t r = 70; r < 128; ++r) expect_same_bits(part, r - 70, whole, r);
  // A full chunk is kept as tokens until the next one comes.
  EXPECT_EQ(memory.view.num_pending, kDeltaRuleChunk);
}

// The published fault: state that leaks between the sequences of a packed batch.
TEST_P(GatedDeltaRuleTest, SequencesOfABatchDoNotMeet) {
  const Inputs inputs({2, 4, 16, 16}, 230);
  const std::vector<std::int32_t> cu_seqlens = {0, 70, 70, 71, 230};
  const Grid batch = inputs.run(context(), 0, 230, cu_seqlens);
  for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
    const std::int64_t begin = cu_seqlens[s];
    const std::int64_t end = cu_seqlens[s + 1];
    if (begin == end) continue;
    const Grid alone =
        inputs.run(context(), begin, end, {0, static_cast<std::int32_t>(end - begin)});
    for (std::int64_t r = begin; r < end; ++r) expect_same_bits(batch, r, alone, r - begin);
  }
}

TEST_P(GatedDeltaRuleTest, NanStaysInItsSequence) {
  Inputs inputs({1, 2, 16, 16}, 20);
  inputs.v.at(3, 0) = kNan;
  const Grid out = inputs.run(context(), 0, 20, {0, 10, 20});
  EXPECT_TRUE(std::isnan(out.at(3, 0)));
  for (std::int64_t r = 10; r < 20; ++r) {
    for (std::int64_t c = 0; c < 32; ++c) EXPECT_FALSE(std::isnan(out.at(r, c)));
  }
}

// A gate that is no number must not pass for one that is.
TEST_P(GatedDeltaRuleTest, NanInAGateReachesItsHeadFromThatTokenOn) {
  for (Grid Inputs::* gate : {&Inputs::a, &Inputs::b}) {
    Inputs inputs({1, 2, 16, 16}, 20);
    (inputs.*gate).at(3, 1) = kNan;
    const Grid out = inputs.run_whole(context());
    for (std::int64_t r = 0; r < 20; ++r) {
      EXPECT_FALSE(std::isnan(out.at(r, 0))) << r;
      EXPECT_EQ(std::isnan(out.at(r, 16)), r >= 3) << r;
    }
  }
}

}  // namespace
}  // namespace lattice
