#include <cmath>
#include <numeric>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

/// Outputs are averages of values in [-1, 1); scores have a spread of a few units.
constexpr double kTolerance = 5e-6;

struct Heads {
  std::int64_t num_heads;
  std::int64_t num_kv_heads;
  std::int64_t head_dim;
};

// A fused QKV matrix of a packed batch, as the layers pass it.
struct Batch {
  Batch(Heads heads_in, const std::vector<std::int32_t>& lengths, Numbers& numbers)
      : heads(heads_in),
        cu_seqlens(lengths.size() + 1, 0),
        qkv(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}),
            (heads.num_heads + 2 * heads.num_kv_heads) * heads.head_dim, numbers) {
    std::partial_sum(lengths.begin(), lengths.end(), cu_seqlens.begin() + 1);
    for (std::int64_t r = 0; r < qkv.rows(); ++r) {  // scores that are not all alike
      for (float& value : qkv.view().row_span(r).first(static_cast<std::size_t>(q_cols()))) {
        value *= 8.0f;
      }
    }
  }

  std::int64_t q_cols() const { return heads.num_heads * heads.head_dim; }
  std::int64_t kv_cols() const { return heads.num_kv_heads * heads.head_dim; }

  Grid run(Context& context, bool causal, std::int64_t window = 0) const {
    Grid out(qkv.rows(), q_cols());
    lattice::attention(context, {.q = qkv.view().columns(0, q_cols()),
                                 .k = qkv.view().columns(q_cols(), kv_cols()),
                                 .v = qkv.view().columns(q_cols() + kv_cols(), kv_cols()),
                                 .out = out.view(),
                                 .layout = {cu_seqlens},
                                 .num_heads = heads.num_heads,
                                 .num_kv_heads = heads.num_kv_heads,
                                 .head_dim = heads.head_dim,
                                 .scale = 1.0f / std::sqrt(static_cast<float>(heads.head_dim)),
                                 .causal = causal,
                                 .window = window});
    return out;
  }

  // The sequence `seq` as a batch of its own.
  Batch alone(std::size_t seq) const {
    Numbers unused(0);
    Batch single(heads, {cu_seqlens[seq + 1] - cu_seqlens[seq]}, unused);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(single.qkv.rows()));
    std::iota(rows.begin(), rows.end(), cu_seqlens[seq]);
    single.qkv = qkv.select(rows);
    return single;
  }

  Heads heads;
  std::vector<std::int32_t> cu_seqlens;
  Grid qkv;
};

class AttentionTest : public OpTest {
 protected:
  void compare(const Heads& heads, const std::vector<std::int32_t>& lengths) {
    Numbers numbers(static_cast<std::uint32_t>(heads.head_dim));
    const Batch batch(heads, lengths, numbers);
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(::testing::Message()
                   << heads.num_heads << '/' << heads.num_kv_heads << " heads of " << heads.head_dim
                   << ", first length " << (lengths.empty() ? 0 : lengths[0])
                   << (causal ? ", causal" : ""));
      const Grid got = batch.run(context(), causal);
      expect_near(got, batch.run(reference(), causal), kTolerance);
      got.expect_margins_untouched();
    }
  }
};
LATTICE_FOR_EACH_BACKEND(AttentionTest);

TEST_P(AttentionTest, EverySequenceLength) {
  for (std::int32_t length = 1; length <= 70; ++length) compare({2, 1, 20}, {length});
}

TEST_P(AttentionTest, EveryHeadDim) {
  for (std::int64_t dim = 1; dim <= 40; ++dim) {
    if (has_heads_of(dim)) compare({2, 2, dim}, {13});
  }
  for (const std::int64_t dim : {64, 72, 80, 96, 100, 128, 192, 255, 256}) {
    if (has_heads_of(dim)) compare({2, 2, dim}, {3, 40});
  }
}

TEST_P(AttentionTest, GroupsOfQueryHeads) {
  for (const std::int64_t groups : {1, 2, 3, 4, 5, 8}) {
    compare({2 * groups, 2, 32}, {1, 50, 7});
  }
  compare({6, 1, 128}, {130});
}

TEST_P(AttentionTest, RaggedBatchWithEmptySequences) {
  compare({3, 3, 16}, {5, 0, 1, 33, 0, 0, 64, 2});
  compare({3, 3, 16}, {0, 0});
  compare({3, 3, 16}, {});
}

// Longer than a block of keys and a chunk of queries on every target.
TEST_P(AttentionTest, LongSequences) {
  compare({1, 1, 32}, {1100});
  compare({2, 1, 64}, {555, 3});
  compare({2, 2, 256}, {200});
}

TEST_P(AttentionTest, LargeScoresDoNotOverflow) {
  Numbers numbers(3);
  Batch batch({1, 1, 8}, {100}, numbers);
  for (std::int64_t r = 0; r < 100; ++r) {
    for (float& value : batch.qkv.view().row_span(r).first(16)) value *= 300.0f;
  }
  const Grid got = batch.run(context(), false);
  const Grid expected = batch.run(reference(), false);
  for (std::int64_t r = 0; r < 100; ++r) {
    for (std::int64_t c = 0; c < 8; ++c) {
      // Scores near 1e6 have an ulp of 0.06: only the range can be exact.
      ASSERT_TRUE(std::isfinite(got.at(r, c)));
      ASSERT_LE(std::abs(got.at(r, c)), 1.0f);
    }
  }
  ASSERT_NEAR(got.at(0, 0), expected.at(0, 0), 0.5);
}

TEST_P(AttentionTest, NanStaysInItsSequence) {
  Numbers numbers(4);
  const Batch clean({2, 2, 16}, {20, 30, 40}, numbers);
  const Grid expected = clean.run(context(), false);
  for (const std::int64_t column : {3, 40, 70}) {  // in q, k and v
    Batch dirty = clean;
    dirty.qkv.at(25, column) = kNan;
    const Grid got = dirty.run(context(), false);
    for (std::int64_t r = 0; r < 90; ++r) {
      if (r < 20 || r >= 50) expect_same_bits(got, r, expected, r);
    }
    bool any_nan = false;
    for (std::int64_t c = 0; c < 32; ++c) any_nan = any_nan || std::isnan(got.at(25, c));
    EXPECT_TRUE(any_nan) << column;
  }
}

TEST_P(AttentionTest, ANanQueryOnlySpoilsItsRow) {
  Numbers numbers(5);
  const Batch clean({1, 1, 16}, {33}, numbers);
  Batch dirty = clean;
  dirty.qkv.at(9, 15) = kNan;
  const Grid expected = clean.run(context(), false);
  const Grid got = dirty.run(context(), false);
  for (std::int64_t r = 0; r < 33; ++r) {
    if (r != 9) expect_same_bits(got, r, expected, r);
  }
  for (std::int64_t c = 0; c < 16; ++c) EXPECT_TRUE(std::isnan(got.at(9, c)));
}

// Each sequence alone, in the batch, with 1, 2 and 3 threads.
TEST_P(AttentionTest, BitsDoNotDependOnTheBatch) {
  Numbers numbers(6);
  const std::vector<std::int32_t> lengths{17, 1, 300, 64, 128, 5, 700, 2};
  const Batch batch({4, 2, 32}, lengths, numbers);
  for (const bool causal : {false, true}) {
    const Grid expected = batch.run(context(), causal);
    for (const std::size_t num_threads : {1u, 2u, 3u}) {
      const auto with = make_context(GetParam(), num_threads);
      const Grid got = batch.run(*with, causal);
      for (std::int64_t r = 0; r < got.rows(); ++r) expect_same_bits(got, r, expected, r);
    }
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const Grid got = batch.alone(s).run(context(), causal);
      for (std::int64_t r = 0; r < got.rows(); ++r) {
        expect_same_bits(got, r, expected, batch.cu_seqlens[s] + r);
      }
    }
  }
}

// A window as long as the sequence hides nothing; shorter ones hide whole blocks of keys.
TEST_P(AttentionTest, SlidingWindows) {
  for (const Heads& heads : {Heads{2, 1, 20}, Heads{4, 2, 64}, Heads{2, 2, 256}}) {
    Numbers numbers(8);
    const Batch batch(heads, {1, 40, 700, 0, 3}, numbers);
    const Grid whole = batch.run(context(), true);
    for (const std::int64_t window : {1, 2, 3, 7, 31, 32, 33, 64, 130, 699, 700, 5000}) {
      SCOPED_TRACE(::testing::Message() << "heads of " << heads.head_dim << ", window " << window);
      const Grid got = batch.run(context(), true, window);
      expect_near(got, batch.run(reference(), true, window), kTolerance);
      got.expect_margins_untouched();
      if (window < 700) continue;
      for (std::int64_t r = 0; r < got.rows(); ++r) expect_same_bits(got, r, whole, r);
    }
  }
}

TEST_P(AttentionTest, AWindowOfOneCopiesTheValue) {
  Numbers numbers(9);
  const Batch batch({1, 1, 8}, {30}, numbers);
  const Grid got = batch.run(context(), true, 1);
  for (std::int64_t r = 0; r < 30; ++r) {
    for (std::int64_t c = 0; c < 8; ++c) EXPECT_EQ(got.at(r, c), batch.qkv.at(r, 16 + c));
  }
}

TEST_P(AttentionTest, BitsOfAWindowDoNotDependOnTheBatch) {
  Numbers numbers(10);
  const std::vector<std::int32_t> lengths{17, 1, 700, 64};
  const Batch batch({4, 2, 64}, lengths, numbers);
  const Grid expected = batch.run(context(), true, 50);
  for (const std::size_t num_threads : {1u, 2u, 3u}) {
    const Grid got = batch.run(*make_context(GetParam(), num_threads), true, 50);
    for (std::int64_t r = 0; r < got.rows(); ++r) expect_same_bits(got, r, expected, r);
  }
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const Grid got = batch.alone(s).run(context(), true, 50);
    for (std::int64_t r = 0; r < got.rows(); ++r) {
      expect_same_bits(got, r, expected, batch.cu_seqlens[s] + r);
    }
  }
}

// Queries that continue sequences whose keys lie elsewhere get the bits of the whole sequence.
void expect_keys_of_earlier_tokens(Context& context, const Heads& heads) {
  Numbers numbers(12);
  const Batch whole(heads, {700, 40, 1, 300}, numbers);
  for (const std::int64_t window : {0, 50}) {
    const Grid expected = whole.run(context, true, window);
    for (const std::int64_t num_earlier : {0, 1, 39, 256, 699}) {
      std::vector<std::int64_t> rows;
      std::vector<std::int32_t> cu_seqlens{0};
      std::vector<KeysValues> sequences;
      for (std::size_t s = 0; s + 1 < whole.cu_seqlens.size(); ++s) {
        const std::int64_t begin = whole.cu_seqlens[s], end = whole.cu_seqlens[s + 1];
        for (std::int64_t r = std::min(begin + num_earlier, end - 1); r < end; ++r) {
          rows.push_back(r);
        }
        cu_seqlens.push_back(static_cast<std::int32_t>(rows.size()));
        const ConstMatrix kv = whole.qkv.view().rows_between(begin, end);
        sequences.push_back({kv.columns(whole.q_cols(), whole.kv_cols()),
                             kv.columns(whole.q_cols() + whole.kv_cols(), whole.kv_cols()),
                             heads.head_dim});
      }
      Grid queries = whole.qkv.select(rows);
      Grid out(queries.rows(), whole.q_cols());
      lattice::attention(context, {.q = queries.view().columns(0, whole.q_cols()),
                                   .k = {},
                                   .v = {},
                                   .out = out.view(),
                                   .layout = {cu_seqlens},
                                   .sequences = sequences,
                                   .num_heads = heads.num_heads,
                                   .num_kv_heads = heads.num_kv_heads,
                                   .head_dim = heads.head_dim,
                                   .scale = 1.0f / std::sqrt(static_cast<float>(heads.head_dim)),
                                   .causal = true,
                                   .window = window});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        expect_same_bits(out, static_cast<std::int64_t>(i), expected, rows[i]);
      }
    }
  }
}

TEST_P(AttentionTest, KeysOfEarlierTokens) {
  // One tile of rows for a lone query, and several.
  for (const Heads& heads : {Heads{4, 2, 64}, {3, 3, 20}, {5, 1, 128}, {16, 1, 24}}) {
    expect_keys_of_earlier_tokens(context(), heads);
  }
}

TEST_P(AttentionTest, AWindowNeedsACausalMask) {
  Numbers numbers(11);
  const Batch batch({1, 1, 8}, {3}, numbers);
  EXPECT_THROW(batch.run(context(), false, 2), LatticeError);
  EXPECT_THROW(batch.run(context(), true, -1), LatticeError);
}

// What follows a causal position does not touch its bits.
TEST_P(AttentionTest, CausalPrefixesAreExact) {
  Numbers numbers(7);
  const Batch batch({2, 1, 24}, {400}, numbers);
  const Grid expected = batch.run(context(), true);
  for (const std::int32_t length : {1, 2, 7, 100, 257, 399}) {
    Batch prefix = batch;
    prefix.cu_seqlens = {0, length, 400};
    const Grid got = prefix.run(context(), true);
    for (std::int64_t r = 0; r < length; ++r) expect_same_bits(got, r, expected, r);
  }
}

}  // namespace
}  // namespace lattice
