#include "ops/embedding_lookup.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/embedding_lookup.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/embedding_lookup-inl.h"

#if HWY_ONCE
namespace lattice {

void CpuBackend::embedding_lookup(Context& context, const EmbeddingLookupArgs& args) const {
  using Kernel = void (*)(const EmbeddingLookupArgs&, std::int64_t, std::int64_t);
  static constexpr TargetTable<Kernel> kTable = LATTICE_TARGET_TABLE(embedding_rows);
  const Kernel kernel = kTable.get(target_);
  const std::int64_t row_work = args.out.cols * static_cast<std::int64_t>(args.terms.size());
  parallel_ranges(context.threads(), args.out.rows, row_work,
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace lattice
#endif
