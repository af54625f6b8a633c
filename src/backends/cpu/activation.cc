#include "ops/activation.h"

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/activation.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

using ActivationKernel = void (*)(const MutMatrix& x, std::int64_t begin, std::int64_t end);

/// Rows [begin, end).
template <class Op>
void activate_rows(const MutMatrix& x, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  for (std::int64_t r = begin; r < end; ++r) {
    float* row = x.row(r);
    std::int64_t c = 0;
    for (; c + kLanes <= x.cols; c += kLanes) {
      hn::StoreU(Op()(d, hn::LoadU(d, row + c)), d, row + c);
    }
    if (c < x.cols) {
      store_partial(Op()(d, load_partial(row + c, x.cols - c)), row + c, x.cols - c);
    }
  }
}

/// Indexed by Activation.
constexpr std::array<ActivationKernel, kNumActivations> kActivationKernels = {
    &activate_rows<IdentityOp>, &activate_rows<GeluOp>, &activate_rows<GeluTanhOp>,
    &activate_rows<ReluOp>,     &activate_rows<SiluOp>, &activate_rows<TanhOp>,
    &activate_rows<SigmoidOp>};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::activation(Context& context, const ActivationArgs& args) const {
  using Kernel = void (*)(const MutMatrix& x, std::int64_t begin, std::int64_t end);
  static constexpr TargetTable<const std::array<Kernel, kNumActivations>*> kTable =
      LATTICE_TARGET_TABLE(kActivationKernels);
  const Kernel kernel = (*kTable.get(target_))[static_cast<std::size_t>(args.activation)];
  parallel_ranges(context.threads(), args.x.rows, 2 * args.x.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args.x, begin, end); });
}

}  // namespace lattice
#endif
