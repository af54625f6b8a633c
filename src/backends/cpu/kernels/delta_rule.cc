#include "backends/cpu/kernels/delta_rule.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "ops/gated_delta_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/delta_rule.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

void normalize(const float* x, std::int64_t size, float factor, float* out) {
  const FloatTag d;
  const FloatVec scale = hn::Set(d, factor / std::sqrt(sum_of_squares(x, size) + 1e-6f));
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), scale), d, out + i);
  }
  if (i < size) store_partial(hn::Mul(load_partial(x + i, size - i), scale), out + i, size - i);
}

/// kRows rows by kVectors vectors of columns, from row r and column c on.
template <int kRows, int kVectors>
HWY_INLINE void product_tile(const SmallProductArgs& args, std::int64_t r, std::int64_t c) {
  const FloatTag d;
  FloatVec sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sums[i][j] = hn::Zero(d);
      if (args.accumulate) {
        const float* out = args.out + (r + i) * args.out_stride + c + j * kLanes;
        sums[i][j] = hn::Mul(hn::LoadU(d, out), hn::Set(d, args.kept));
      }
    }
  }
  const float* a = args.a + r * args.a_stride;
  const float* b = args.b + c;
  for (std::int64_t k = 0; k < args.depth; ++k, b += args.b_stride) {
    FloatVec columns[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) columns[j] = hn::LoadU(d, b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const FloatVec x = hn::Set(d, a[i * args.a_stride + k]);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(x, columns[j], sums[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sums[i][j], d, args.out + (r + i) * args.out_stride + c + j * kLanes);
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void product_rows(const SmallProductArgs& args, std::int64_t r) {
  std::int64_t c = 0;
  for (; c + kVectors * kLanes <= args.cols; c += kVectors * kLanes) {
    product_tile<kRows, kVectors>(args, r, c);
  }
  for (; c < args.cols; c += kLanes) product_tile<kRows, 1>(args, r, c);
}

void product(const SmallProductArgs& args) {
  std::int64_t r = 0;
  for (; r + 6 <= args.rows; r += 6) product_rows<6, 2>(args, r);
  for (; r + 2 <= args.rows; r += 2) product_rows<2, 4>(args, r);
  if (r < args.rows) product_rows<1, 4>(args, r);
}

void decay_to(const double* decays, std::int64_t last, float* out) {
  const FloatTag d;
  const double end = decays[last];
  for (std::int64_t j = 0; j <= last; ++j) out[j] = static_cast<float>(end - decays[j]);
  std::int64_t j = 0;
  for (; j + kLanes <= last + 1; j += kLanes) {
    hn::StoreU(exp_nonpositive(d, hn::LoadU(d, out + j)), d, out + j);
  }
  const std::int64_t rest = last + 1 - j;
  if (rest > 0) store_partial(exp_nonpositive(d, load_partial(out + j, rest)), out + j, rest);
}

/// kVectors vectors of value columns from c on; the coefficients hold the decays.
template <int kVectors>
HWY_INLINE void token_columns(const DeltaTokenArgs& args, const float* key_coefficients,
                              const float* query_coefficients, float decay, std::int64_t c) {
  const FloatTag d;
  FloatVec seen[kVectors];  // what earlier tokens of the chunk have stored under k
  FloatVec out[kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) seen[j] = out[j] = hn::Zero(d);
  const float* delta = args.deltas + c;
  for (std::int64_t t = 0; t < args.index; ++t, delta += args.value_stride) {
    const FloatVec key = hn::Set(d, key_coefficients[t]);
    const FloatVec query = hn::Set(d, query_coefficients[t]);
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const FloatVec u = hn::LoadU(d, delta + j * kLanes);
      seen[j] = hn::MulAdd(key, u, seen[j]);
      out[j] = hn::MulAdd(query, u, out[j]);
    }
  }
  float* new_delta = args.deltas + args.index * args.value_stride + c;
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const std::int64_t col = c + j * kLanes;
    const std::int64_t rest = args.value_head_dim - col;
    FloatVec v = hn::Zero(d);
    if (rest >= kLanes) {
      v = hn::LoadU(d, args.v + col);
    } else if (rest > 0) {
      v = load_partial(args.v + col, rest);
    }
    const FloatVec decays = hn::Set(d, decay);
    const FloatVec stored = hn::MulAdd(decays, hn::LoadU(d, args.key_product + col), seen[j]);
    const FloatVec u = hn::Mul(hn::Set(d, args.beta), hn::Sub(v, stored));
    hn::StoreU(u, d, new_delta + j * kLanes);
    out[j] = hn::MulAdd(hn::Set(d, query_coefficients[args.index]), u, out[j]);
    out[j] = hn::MulAdd(decays, hn::LoadU(d, args.query_product + col), out[j]);
    if (rest >= kLanes) {
      hn::StoreU(out[j], d, args.out + col);
    } else if (rest > 0) {
      store_partial(out[j], args.out + col, rest);
    }
  }
}

void token(const DeltaTokenArgs& args) {
  HWY_ALIGN float key_coefficients[kDeltaRuleChunk];
  HWY_ALIGN float query_coefficients[kDeltaRuleChunk];
  decay_to(args.decays, args.index, query_coefficients);
  for (std::int64_t t = 0; t < args.index; ++t) {
    key_coefficients[t] = query_coefficients[t] * args.key_scores[t];
  }
  for (std::int64_t t = 0; t <= args.index; ++t) query_coefficients[t] *= args.query_scores[t];
  const auto decay = static_cast<float>(std::exp(args.decays[args.index]));
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= args.value_stride; c += 4 * kLanes) {
    token_columns<4>(args, key_coefficients, query_coefficients, decay, c);
  }
  for (; c < args.value_stride; c += kLanes) {
    token_columns<1>(args, key_coefficients, query_coefficients, decay, c);
  }
}

constexpr DeltaRuleKernels kDeltaRuleKernels = {&normalize, &product, &token, &decay_to};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

const DeltaRuleKernels* delta_rule_kernels(CpuTarget target) {
  static constexpr TargetTable<const DeltaRuleKernels*> kTable =
      LATTICE_TARGET_TABLE(kDeltaRuleKernels);
  return kTable.get(target);
}

}  // namespace lattice
#endif
