#include "ops/rms_norm.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rms_norm.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/rms_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// Rows [begin, end).
void rms_norm_rows(const RmsNormArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    rms_norm_row(args.x.row(r), args.weight.data(), args.weight_offset, args.eps, args.x.cols,
                 args.out.row(r));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::rms_norm(Context& context, const RmsNormArgs& args) const {
  using Kernel = void (*)(const RmsNormArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(rms_norm_rows);
  const Kernel kernel = kTable.get(target_);
  parallel_ranges(context.threads(), args.x.rows, args.x.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
