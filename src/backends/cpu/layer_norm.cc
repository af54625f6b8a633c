#include "ops/layer_norm.h"

#include <cmath>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/layer_norm.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/layer_norm-inl.h"

#if HWY_ONCE
namespace lattice {

void CpuBackend::layer_norm(Context& context, const LayerNormArgs& args) const {
  using Kernel = void (*)(const LayerNormArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(layer_norm_rows);
  const Kernel kernel = kTable.get(target_);
  parallel_ranges(context.threads(), args.x.rows, args.x.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
