#include "ops/gated_rms_norm.h"

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gated_rms_norm.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/rms_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// out *= activation(gate) elementwise.
template <class Op>
HWY_INLINE void gate_head(const float* gate, std::int64_t size, float* out) {
  const FloatTag d;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, out + i), Op()(d, hn::LoadU(d, gate + i))), d, out + i);
  }
  if (i < size) {
    const FloatVec gated = Op()(d, load_partial(gate + i, size - i));
    store_partial(hn::Mul(load_partial(out + i, size - i), gated), out + i, size - i);
  }
}

/// Rows [begin, end).
template <class Op>
void gated_rms_norm_rows(const GatedRmsNormArgs& args, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(args.weight.size());
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t c = 0; c < args.x.cols; c += size) {
      float* out = args.out.row(r) + c;
      rms_norm_row(args.x.row(r) + c, args.weight.data(), 0.0f, args.eps, size, out);
      gate_head<Op>(args.gate.row(r) + c, size, out);
    }
  }
}

using GatedNormKernel = void (*)(const GatedRmsNormArgs&, std::int64_t, std::int64_t);

/// Indexed by Activation.
constexpr std::array<GatedNormKernel, kNumActivations> kGatedNormKernels = {
    &gated_rms_norm_rows<IdentityOp>, &gated_rms_norm_rows<GeluOp>,
    &gated_rms_norm_rows<GeluTanhOp>, &gated_rms_norm_rows<ReluOp>,
    &gated_rms_norm_rows<SiluOp>,     &gated_rms_norm_rows<TanhOp>,
    &gated_rms_norm_rows<SigmoidOp>};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const {
  using Kernel = void (*)(const GatedRmsNormArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<const std::array<Kernel, kNumActivations>*> kTable =
      LATTICE_TARGET_TABLE(kGatedNormKernels);
  const Kernel kernel = (*kTable.get(target_))[static_cast<std::size_t>(args.activation)];
  parallel_ranges(context.threads(), args.x.rows, 3 * args.x.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
