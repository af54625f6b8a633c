#include "ops/attention.h"

#include <algorithm>

#include "backends/cpu/attention_chunk.h"
#include "backends/cpu/cpu_backend.h"
#include "ops/context.h"

namespace lattice {
namespace {

// About the work of a task; the sum over all tasks is shared out evenly.
std::int64_t task_cost(const AttentionArgs& args, std::int64_t num_keys, std::int64_t length,
                       Range queries) {
  const std::int64_t first_position = num_keys - length + queries.begin;
  const std::int64_t end = args.causal ? num_keys - length + queries.end : num_keys;
  const std::int64_t keys = end - first_key(args, first_position);
  constexpr std::int64_t kPackingCost = 8;  // of a key, in queries
  return (queries.end - queries.begin + kPackingCost) * keys;
}

// Calls visit(seq, kv_head, queries, cost) for every task, in an order that keeps a head's chunks
// together.
template <typename Visit>
void for_each_task(const AttentionArgs& args, std::int64_t chunk_queries, const Visit& visit) {
  for (std::int64_t seq = 0; seq < args.layout.num_seqs(); ++seq) {
    const std::int64_t length = args.layout.length(seq);
    const std::int64_t num_keys = args.keys_values(seq).num_keys();
    for (std::int64_t kv_head = 0; kv_head < args.num_kv_heads; ++kv_head) {
      for (std::int64_t q = 0; q < length; q += chunk_queries) {
        const Range queries{q, std::min(q + chunk_queries, length)};
        visit(seq, kv_head, queries, task_cost(args, num_keys, length, queries));
      }
    }
  }
}

}  // namespace

void CpuBackend::attention(Context& context, const AttentionArgs& args) const {
  const GemmKernels& gemm = *gemm_f32_kernels(target_);
  const AttentionKernels& kernels = *attention_kernels(target_);
  const AttentionSizes sizes(args, gemm);
  std::int64_t total_cost = 0;
  for_each_task(args, sizes.chunk_queries,
                [&](auto, auto, auto, std::int64_t cost) { total_cost += cost; });
  if (total_cost == 0) return;
  const std::int64_t cycles = total_cost * sizes.groups * (sizes.head_dim / 4 + 2);
  const std::int64_t num_threads = useful_threads(context.threads(), cycles);
  const Workspace::Scope scope(context.workspace());
  const std::int64_t floats_per_thread = AttentionScratch(sizes).num_floats;
  float* memory = context.workspace().floats(num_threads * floats_per_thread).data();
  const auto states = context.workspace().array<SoftmaxState>(num_threads * sizes.rows());
  context.threads().parallel_for(static_cast<std::size_t>(num_threads), [&](std::size_t task,
                                                                            std::size_t) {
    const auto t = static_cast<std::int64_t>(task);
    // The thread runs the tasks that start in its part of the total cost.
    const Range share = split(total_cost, t, num_threads);
    AttentionChunk chunk(args, gemm, kernels, sizes,
                         AttentionScratch(sizes, memory + t * floats_per_thread),
                         states.data() + t * sizes.rows());
    std::int64_t start = 0;
    for_each_task(args, sizes.chunk_queries,
                  [&](std::int64_t seq, std::int64_t kv_head, Range queries, std::int64_t cost) {
                    if (start >= share.begin && start < share.end) {
                      chunk.run(seq, kv_head, queries);
                    }
                    start += cost;
                  });
  });
}

}  // namespace lattice
