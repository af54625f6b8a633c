// Pooling of sequences and L2 normalisation of rows for one Highway target.

#if defined(LATTICE_KERNELS_POOL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_POOL_INL_H_
#undef LATTICE_KERNELS_POOL_INL_H_
#else
#define LATTICE_KERNELS_POOL_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include <hwy/highway.h>
#include "backends/cpu/kernels/vector-inl.h"
#include "ops/pool.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// The tokens of one sequence that count: rows [begin, end), never empty.
struct PooledTokens {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t first_position;  ///< of row `begin` in its sequence
};

/// out = max over tokens; a NaN anywhere in a column wins.
HWY_INLINE void pool_max(const PoolArgs& args, const PooledTokens& tokens, float* out) {
  const FloatTag d;
  std::copy_n(args.x.row(tokens.begin), args.x.cols, out);
  for (std::int64_t r = tokens.begin + 1; r < tokens.end; ++r) {
    const float* x = args.x.row(r);
    std::int64_t c = 0;
    for (; c + kLanes <= args.x.cols; c += kLanes) {
      const FloatVec best = hn::LoadU(d, out + c);
      const FloatVec v = hn::LoadU(d, x + c);
      hn::StoreU(hn::IfThenElse(hn::Or(hn::Gt(v, best), hn::IsNaN(v)), v, best), d, out + c);
    }
    for (; c < args.x.cols; ++c) {
      if (x[c] > out[c] || x[c] != x[c]) out[c] = x[c];
    }
  }
}

/// out = scale * sum of weight(token) x[token], added in token order.
HWY_INLINE void pool_sum(const PoolArgs& args, const PooledTokens& tokens, float scale,
                         float* out) {
  const FloatTag d;
  const bool by_position = args.mode == PoolingMode::kWeightedMean;
  for (std::int64_t c = 0; c < args.x.cols; c += kLanes) {
    const std::int64_t count = std::min(kLanes, args.x.cols - c);
    FloatVec sum = hn::Zero(d);
    for (std::int64_t r = tokens.begin; r < tokens.end; ++r) {
      const float* x = args.x.row(r) + c;
      const FloatVec v = count == kLanes ? hn::LoadU(d, x) : load_partial(x, count);
      const auto position = static_cast<float>(tokens.first_position + r - tokens.begin + 1);
      sum = hn::MulAdd(v, hn::Set(d, by_position ? position : 1.0f), sum);
    }
    sum = hn::Mul(sum, hn::Set(d, scale));
    if (count == kLanes) {
      hn::StoreU(sum, d, out + c);
    } else {
      store_partial(sum, out + c, count);
    }
  }
}

/// 1 / (what the mode divides the sum by).
HWY_INLINE float pool_scale(PoolingMode mode, const PooledTokens& tokens) {
  const auto count = static_cast<double>(tokens.end - tokens.begin);
  if (mode == PoolingMode::kMeanSqrtLen) return static_cast<float>(1.0 / std::sqrt(count));
  if (mode != PoolingMode::kWeightedMean) return static_cast<float>(1.0 / count);
  const auto first = static_cast<double>(tokens.first_position + 1);
  return static_cast<float>(1.0 / (count * (2.0 * first + count - 1.0) / 2.0));
}

HWY_INLINE void pool_tokens(const PoolArgs& args, const PooledTokens& tokens, float* out) {
  switch (args.mode) {
    case PoolingMode::kCls:
      std::copy_n(args.x.row(tokens.begin), args.x.cols, out);
      return;
    case PoolingMode::kLastToken:
      std::copy_n(args.x.row(tokens.end - 1), args.x.cols, out);
      return;
    case PoolingMode::kMax:
      return pool_max(args, tokens, out);
    case PoolingMode::kMean:
    case PoolingMode::kMeanSqrtLen:
    case PoolingMode::kWeightedMean:
      return pool_sum(args, tokens, pool_scale(args.mode, tokens), out);
  }
}

/// Sequences [begin, end).
void pool_sequences(const PoolArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end; ++s) {
    std::int64_t skipped = args.skip.empty() ? 0 : args.skip[static_cast<std::size_t>(s)];
    if (args.mode == PoolingMode::kCls && skipped >= args.layout.length(s)) skipped = 0;
    const PooledTokens tokens{args.layout.begin(s) + skipped, args.layout.end(s), skipped};
    if (tokens.begin < tokens.end) {
      pool_tokens(args, tokens, args.out.row(s));
    } else {
      std::fill_n(args.out.row(s), args.out.cols, 0.0f);
    }
  }
}

/// The Euclidean norm, squares summed in f32.
HWY_INLINE float row_norm(const float* x, std::int64_t size) {
  return std::sqrt(sum_of_squares(x, size));
}

/// Rows [begin, end).
void l2_normalize_rows(const L2NormalizeArgs& args, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const std::int64_t size = args.x.cols;
  for (std::int64_t r = begin; r < end; ++r) {
    float* x = args.x.row(r);
    const float norm = row_norm(x, size);
    const FloatVec divisor = hn::Set(d, norm < args.eps ? args.eps : norm);
    std::int64_t i = 0;
    for (; i + kLanes <= size; i += kLanes) {
      hn::StoreU(hn::Div(hn::LoadU(d, x + i), divisor), d, x + i);
    }
    if (i < size) {
      store_partial(hn::Div(load_partial(x + i, size - i), divisor), x + i, size - i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_POOL_INL_H_
