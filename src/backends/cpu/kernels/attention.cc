#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "backends/cpu/kernels/gemm-inl.h"
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Four floats at `i` of every fourth row, a 128-bit block each.
HWY_INLINE FloatVec load_blocks(const float* const* rows, std::int64_t i) {
  const hn::CappedTag<float, 4> d4;
#if HWY_MAX_BYTES >= 32
  const hn::CappedTag<float, 8> d8;
  const auto low = hn::Combine(d8, hn::LoadU(d4, rows[4] + i), hn::LoadU(d4, rows[0] + i));
#endif
#if HWY_MAX_BYTES >= 64
  const auto high = hn::Combine(d8, hn::LoadU(d4, rows[12] + i), hn::LoadU(d4, rows[8] + i));
  return hn::Combine(FloatTag(), high, low);
#elif HWY_MAX_BYTES >= 32
  return low;
#else
  return hn::LoadU(d4, rows[0] + i);
#endif
}
#endif

/// A vector of keys times `factor`, transposed into columns [head_dim][kLanes] of a panel.
HWY_INLINE void transpose_keys(const float* const* keys, std::int64_t head_dim, float factor,
                               float* panel) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const hn::Repartition<double, FloatTag> d64;
  const auto factors = hn::Set(d, factor);
  for (; i + 4 <= head_dim; i += 4) {
    const auto k0 = hn::Mul(load_blocks(keys, i), factors);
    const auto k1 = hn::Mul(load_blocks(keys + 1, i), factors);
    const auto k2 = hn::Mul(load_blocks(keys + 2, i), factors);
    const auto k3 = hn::Mul(load_blocks(keys + 3, i), factors);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, k0, k1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, k2, k3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, k0, k1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, k2, k3));
    float* out = panel + i * kPanelCols;
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, out);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, out + kPanelCols);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, out + 2 * kPanelCols);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, out + 3 * kPanelCols);
  }
#endif
  for (; i < head_dim; ++i) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      panel[i * kPanelCols + lane] = keys[lane][i] * factor;
    }
  }
}

/// Rows that packing asks for ahead of the one it reads: they come from memory where a sequence is
/// long, and no hardware follows several short rows at once.
constexpr std::int64_t kRowsAhead = 16;

HWY_INLINE void prefetch_row(const float* row, std::int64_t size) {
  constexpr std::int64_t kLineFloats = 16;
  for (std::int64_t i = 0; i < size; i += kLineFloats) hwy::Prefetch(row + i);
}

void pack_keys(const float* keys, std::int64_t stride, std::int64_t num_keys, std::int64_t head_dim,
               float factor, float* panels) {
  for (std::int64_t j = 0; j < num_keys; j += kLanes) {
    const float* rows[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = keys + std::min(j + lane, num_keys - 1) * stride;
      prefetch_row(keys + (j + lane + kRowsAhead) * stride, head_dim);
    }
    float* panel = panels + j / kPanelCols * kPanelCols * head_dim;
    transpose_keys(rows, head_dim, factor, panel + j % kPanelCols);
  }
}

void pack_values(const float* values, std::int64_t stride, std::int64_t num_keys,
                 std::int64_t head_dim, float* panels) {
  const FloatTag d;
  for (std::int64_t j = 0; j < num_keys; ++j) {
    const float* value = values + j * stride;
    prefetch_row(value + kRowsAhead * stride, head_dim);
    for (std::int64_t c = 0; c < head_dim; c += kPanelCols) {
      float* out = panels + c * num_keys + j * kPanelCols;
      for (std::int64_t lane = c; lane < c + kPanelCols; lane += kLanes, out += kLanes) {
        FloatVec v = hn::Zero(d);
        if (lane + kLanes <= head_dim) {
          v = hn::LoadU(d, value + lane);
        } else if (lane < head_dim) {
          v = load_partial(value + lane, head_dim - lane);
        }
        hn::Store(v, d, out);
      }
    }
  }
}

constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// The maximum over the keys of a row; hides the keys that the row may not see, and the padding.
HWY_INLINE float mask_and_max(const SoftmaxArgs& args, int row) {
  const FloatTag d;
  float* scores = args.scores[row];
  const std::int64_t padded = (args.num_keys + kLanes - 1) / kLanes * kLanes;
  std::fill(scores, scores + args.first_seen[row], kHidden);
  std::fill(scores + args.end_seen[row], scores + padded, kHidden);
  FloatVec best = hn::Load(d, scores);
  for (std::int64_t j = kLanes; j < padded; j += kLanes) {
    best = hn::Max(best, hn::Load(d, scores + j));
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

HWY_INLINE float exp2_of(float x) {
  const FloatTag d;
  return hn::GetLane(exp2_small(d, hn::Set(d, x)));
}

/// What a row's scores are taken relative to: any finite number while it has seen no key at all.
HWY_INLINE float pivot_of(float max) { return max == kHidden ? 0.0f : max; }

/// The state after a block whose weights sum to `sum`, relative to the new maximum.
HWY_INLINE void update_state(SoftmaxState& state, float max, float sum) {
  state.correction = exp2_of(state.max - pivot_of(max));
  state.sum = state.sum * state.correction + sum;
  state.max = max;
}

void softmax_pair(const SoftmaxArgs& args) {
  const FloatTag d;
  float max[2];
  for (int r = 0; r < 2; ++r) {
    const float block_max = mask_and_max(args, r);
    max[r] = block_max > args.state[r].max ? block_max : args.state[r].max;
  }
  const FloatVec max0 = hn::Set(d, pivot_of(max[0]));
  const FloatVec max1 = hn::Set(d, pivot_of(max[1]));
  LaneSum sum0;
  LaneSum sum1;
  std::int64_t j = 0;
  for (; j + kLanes <= args.num_keys; j += kLanes) {
    const FloatVec p0 = exp2_small(d, hn::Sub(hn::Load(d, args.scores[0] + j), max0));
    const FloatVec p1 = exp2_small(d, hn::Sub(hn::Load(d, args.scores[1] + j), max1));
    sum0.add(p0);
    sum1.add(p1);
    hn::StoreInterleaved2(p0, p1, d, args.weights + 2 * j);
  }
  if (j < args.num_keys) {
    const FloatVec p0 = exp2_small(d, hn::Sub(hn::Load(d, args.scores[0] + j), max0));
    const FloatVec p1 = exp2_small(d, hn::Sub(hn::Load(d, args.scores[1] + j), max1));
    sum0.add(p0);
    sum1.add(p1);
    HWY_ALIGN float pairs[2 * kLanes];
    hn::StoreInterleaved2(p0, p1, d, pairs);
    std::copy_n(pairs, 2 * (args.num_keys - j), args.weights + 2 * j);
  }
  update_state(args.state[0], max[0], sum0.total());
  update_state(args.state[1], max[1], sum1.total());
}

void scale_row(float* row, std::int64_t size, float factor) {
  const FloatTag d;
  for (std::int64_t i = 0; i < size; i += kLanes) {
    hn::Store(hn::Mul(hn::Load(d, row + i), hn::Set(d, factor)), d, row + i);
  }
}

void divide_row(const float* row, std::int64_t size, float divisor, float* out) {
  const FloatTag d;
  const FloatVec divisors = hn::Set(d, divisor);
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    hn::StoreU(hn::Div(hn::Load(d, row + i), divisors), d, out + i);
  }
  if (i < size) store_partial(hn::Div(hn::Load(d, row + i), divisors), out + i, size - i);
}

constexpr AttentionKernels kAttentionKernels = {&pack_keys, &pack_values, &softmax_pair, &scale_row,
                                                &divide_row};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

const AttentionKernels* attention_kernels(CpuTarget target) {
  static constexpr TargetTable<const AttentionKernels*> kTable =
      LATTICE_TARGET_TABLE(kAttentionKernels);
  return kTable.get(target);
}

}  // namespace lattice
#endif
