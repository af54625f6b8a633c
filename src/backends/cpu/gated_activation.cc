#include "ops/gated_activation.h"

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gated_activation.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// Rows [begin, end).
template <class Op>
void gate_rows(const GatedActivationArgs& args, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const std::int64_t cols = args.out.cols;
  for (std::int64_t r = begin; r < end; ++r) {
    const float* gate = args.gate.row(r);
    const float* up = args.up.row(r);
    float* out = args.out.row(r);
    std::int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) {
      hn::StoreU(hn::Mul(Op()(d, hn::LoadU(d, gate + c)), hn::LoadU(d, up + c)), d, out + c);
    }
    if (c < cols) {
      const FloatVec gated = Op()(d, load_partial(gate + c, cols - c));
      store_partial(hn::Mul(gated, load_partial(up + c, cols - c)), out + c, cols - c);
    }
  }
}

using GateKernel = void (*)(const GatedActivationArgs&, std::int64_t, std::int64_t);

/// Indexed by Activation.
constexpr std::array<GateKernel, kNumActivations> kGateKernels = {
    &gate_rows<IdentityOp>, &gate_rows<GeluOp>, &gate_rows<GeluTanhOp>, &gate_rows<ReluOp>,
    &gate_rows<SiluOp>,     &gate_rows<TanhOp>, &gate_rows<SigmoidOp>};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::gated_activation(Context& context, const GatedActivationArgs& args) const {
  using Kernel = void (*)(const GatedActivationArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<const std::array<Kernel, kNumActivations>*> kTable =
      LATTICE_TARGET_TABLE(kGateKernels);
  const Kernel kernel = (*kTable.get(target_))[static_cast<std::size_t>(args.activation)];
  parallel_ranges(context.threads(), args.out.rows, 2 * args.out.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
