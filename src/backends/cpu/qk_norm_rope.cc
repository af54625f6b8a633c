#include "ops/qk_norm_rope.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/qk_norm_rope.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/rms_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// Rotates the pairs (i, i + half) of one head.
HWY_INLINE void rotate_head(float* head, const float* cos, const float* sin, std::int64_t half) {
  const FloatTag d;
  std::int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const FloatVec a = hn::LoadU(d, head + i);
    const FloatVec b = hn::LoadU(d, head + half + i);
    const FloatVec c = hn::LoadU(d, cos + i);
    const FloatVec s = hn::LoadU(d, sin + i);
    hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, head + i);
    hn::StoreU(hn::MulAdd(a, s, hn::Mul(b, c)), d, head + half + i);
  }
  if (i < half) {
    const std::int64_t rest = half - i;
    const FloatVec a = load_partial(head + i, rest);
    const FloatVec b = load_partial(head + half + i, rest);
    const FloatVec c = load_partial(cos + i, rest);
    const FloatVec s = load_partial(sin + i, rest);
    store_partial(hn::NegMulAdd(b, s, hn::Mul(a, c)), head + i, rest);
    store_partial(hn::MulAdd(a, s, hn::Mul(b, c)), head + half + i, rest);
  }
}

HWY_INLINE void transform_row(const QkNormRopeArgs& args, MutMatrix x,
                              std::span<const float> weight, std::int64_t t) {
  const std::int64_t position = args.positions[static_cast<std::size_t>(t)];
  for (std::int64_t begin = 0; begin < x.cols; begin += args.head_dim) {
    float* head = x.row(t) + begin;
    if (!weight.empty()) {
      rms_norm_row(head, weight.data(), args.weight_offset, args.eps, args.head_dim, head);
    }
    rotate_head(head, args.cos.row(position), args.sin.row(position), args.cos.cols);
  }
}

/// Tokens [begin, end).
void qk_norm_rope_rows(const QkNormRopeArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t t = begin; t < end; ++t) {
    transform_row(args, args.q, args.q_weight, t);
    transform_row(args, args.k, args.k_weight, t);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::qk_norm_rope(Context& context, const QkNormRopeArgs& args) const {
  using Kernel = void (*)(const QkNormRopeArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(qk_norm_rope_rows);
  const Kernel kernel = kTable.get(target_);
  parallel_ranges(context.threads(), args.q.rows, args.q.cols + args.k.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
