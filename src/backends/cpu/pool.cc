#include "ops/pool.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/pool-inl.h"

#if HWY_ONCE
namespace lattice {

void CpuBackend::pool(Context& context, const PoolArgs& args) const {
  using Kernel = void (*)(const PoolArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(pool_sequences);
  const Kernel kernel = kTable.get(target_);
  const std::int64_t num_seqs = args.layout.num_seqs();
  if (num_seqs == 0) return;
  const std::int64_t mean_work = args.layout.num_tokens() * args.x.cols / num_seqs;
  parallel_ranges(context.threads(), num_seqs, mean_work,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

void CpuBackend::l2_normalize(Context& context, const L2NormalizeArgs& args) const {
  using Kernel = void (*)(const L2NormalizeArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(l2_normalize_rows);
  const Kernel kernel = kTable.get(target_);
  parallel_ranges(context.threads(), args.x.rows, args.x.cols,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
