#include "ops/attention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>
#include <span>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

namespace lattice {
namespace {

// Keys are visited in blocks of this many, queries in chunks; both grids start at the sequence's
// first token, so the bits of a sequence do not depend on where it lies. Packed keys and values of
// a block stay in L2 (head_dim <= 64: 128 KiB each), the scores of a tile in L1.
constexpr std::int64_t kBlockFloats = 32 * 1024;
constexpr std::int64_t kMaxTileScores = 3072;
// Query rows per task, all heads of a KV group together: enough to pay for packing the keys.
constexpr std::int64_t kChunkRows = 256;
constexpr std::int64_t kMinChunkQueries = 48;
static_assert(std::has_single_bit(static_cast<std::uint64_t>(kKvPageTokens)) &&
              std::has_single_bit(static_cast<std::uint64_t>(kMaxPanelCols)));

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Sizes that all tasks of one call share, and the layout of a thread's scratch memory.
struct AttentionSizes {
  AttentionSizes(const AttentionArgs& args, const GemmKernels& gemm)
      : groups(args.num_heads / args.num_kv_heads),
        head_dim(args.head_dim),
        padded_dim(round_up(args.head_dim, gemm.panel_cols)),
        tile_rows(gemm.max_rows) {
    const std::int64_t keys = std::min(kBlockFloats / padded_dim, kMaxTileScores / tile_rows);
    // A power of two, so that no block lies in two pages.
    block_keys =
        std::clamp(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(keys))),
                   kMaxPanelCols, kKvPageTokens);
    chunk_queries =
        round_up(std::max(kChunkRows / groups, std::min(kChunkRows, kMinChunkQueries)), tile_rows);
  }

  std::int64_t rows() const { return groups * chunk_queries; }

  std::int64_t groups;
  std::int64_t head_dim;
  std::int64_t padded_dim;  // a multiple of a panel
  std::int64_t tile_rows;
  std::int64_t block_keys;
  std::int64_t chunk_queries;
};

// The first key that a query may see.
std::int64_t first_key(const AttentionArgs& args, std::int64_t query) {
  return args.window > 0 ? std::max<std::int64_t>(0, query + 1 - args.window) : 0;
}

// A thread's scratch memory; every part starts on a cache line.
struct AttentionScratch {
  explicit AttentionScratch(const AttentionSizes& sizes, float* memory = nullptr) {
    float* next = memory;
    const auto take = [&next, this](std::int64_t count) {
      constexpr std::int64_t kLine = 16;
      float* part = next;
      if (next != nullptr) next += round_up(count, kLine);
      num_floats += round_up(count, kLine);
      return part;
    };
    keys = take(sizes.block_keys * sizes.head_dim);
    values = take(sizes.block_keys * sizes.padded_dim);
    queries = take(sizes.rows() * sizes.head_dim);
    scores = take(sizes.tile_rows * sizes.block_keys);
    weights = take(sizes.tile_rows * sizes.block_keys);
    sums = take(sizes.rows() * sizes.padded_dim);
  }

  std::int64_t num_floats = 0;
  float* keys;     // panels [head_dim][panel_cols]
  float* values;   // panels [num_keys][panel_cols]
  float* queries;  // per head of the group a block [pair][head_dim][2]
  float* scores;   // [tile_rows, block_keys]
  float* weights;  // a block [pair][num_keys][2]
  float* sums;     // [rows, padded_dim], relative to each row's running maximum
};

std::byte* as_bytes(float* p) { return std::as_writable_bytes(std::span(p, 1)).data(); }

// One task: a chunk of queries of one sequence against its keys, for the heads of one KV group.
class ChunkAttention {
 public:
  ChunkAttention(const AttentionArgs& args, const GemmKernels& gemm,
                 const AttentionKernels& kernels, const AttentionSizes& sizes, float* memory,
                 SoftmaxState* state)
      : args_(args),
        gemm_(gemm),
        kernels_(kernels),
        sizes_(sizes),
        scratch_(sizes, memory),
        state_(state) {}

  void run(std::int64_t seq, std::int64_t kv_head, Range queries) {
    first_row_ = args_.layout.begin(seq);
    kv_head_ = kv_head;
    queries_ = queries;
    keys_values_ = args_.keys_values(seq);
    first_position_ = keys_values_.num_keys() - args_.layout.length(seq) + queries.begin;
    std::fill_n(state_, sizes_.rows(),
                SoftmaxState{-std::numeric_limits<float>::infinity(), 0.0f, 0.0f});
    pack_queries();
    const std::int64_t num_keys =
        args_.causal ? first_position_ + num_queries() : keys_values_.num_keys();
    const std::int64_t first = first_key(args_, first_position_) / sizes_.block_keys;
    for (std::int64_t j = first * sizes_.block_keys; j < num_keys; j += sizes_.block_keys) {
      visit_block({j, std::min(j + sizes_.block_keys, num_keys)});
    }
    finish();
  }

 private:
  std::int64_t num_queries() const { return queries_.end - queries_.begin; }
  std::int64_t q_column(std::int64_t head) const {
    return (kv_head_ * sizes_.groups + head) * sizes_.head_dim;
  }

  void pack_queries() {
    for (std::int64_t head = 0; head < sizes_.groups; ++head) {
      const float* q = args_.q.row(first_row_ + queries_.begin) + q_column(head);
      float* block = scratch_.queries + head * sizes_.chunk_queries * sizes_.head_dim;
      // A lone query is paired with itself, as pack_block does with an odd last row.
      const bool lone = num_queries() == 1;
      gemm_.pack_block(q, lone ? 0 : args_.q.stride, lone ? 2 : num_queries(), sizes_.head_dim,
                       as_bytes(block));
    }
  }

  void visit_block(Range keys) {
    const std::int64_t num_keys = keys.end - keys.begin;
    const std::int64_t column = kv_head_ * sizes_.head_dim;
    // Scores come out in units of log 2.
    const auto factor = static_cast<float>(static_cast<double>(args_.scale) * std::numbers::log2e);
    kernels_.pack_keys(keys_values_.k_row(keys.begin) + column, keys_values_.k().stride, num_keys,
                       sizes_.head_dim, factor, scratch_.keys);
    kernels_.pack_values(keys_values_.v_row(keys.begin) + column, keys_values_.v().stride, num_keys,
                         sizes_.head_dim, scratch_.values);
    for (std::int64_t head = 0; head < sizes_.groups; ++head) {
      for (std::int64_t r = 0; r < num_queries(); r += sizes_.tile_rows) {
        visit_tile(head, {r, std::min(r + sizes_.tile_rows, num_queries())}, keys);
      }
    }
  }

  // Rows [rows.begin, rows.end) of the chunk against one block of keys.
  void visit_tile(std::int64_t head, Range rows, Range keys) {
    const std::int64_t block_keys = keys.end - keys.begin;
    const std::int64_t num_keys = seen_keys(rows.end - 1, keys);
    const std::int64_t first_seen = first_key(args_, first_position_ + rows.begin);
    if (num_keys == 0 || first_seen >= keys.end) return;
    const bool first_block = first_seen >= keys.begin;
    const std::int64_t num_pairs = (rows.end - rows.begin + 1) / 2;
    const TileFunction tile = gemm_.tiles[static_cast<std::size_t>(num_pairs - 1)];
    const std::int64_t first = head * sizes_.chunk_queries + rows.begin;
    for (std::int64_t j = 0; j < num_keys; j += gemm_.panel_cols) {
      tile({.block = as_bytes(scratch_.queries + first * sizes_.head_dim),
            .panels = as_bytes(scratch_.keys + j * sizes_.head_dim),
            .depth = sizes_.head_dim,
            .sums = scratch_.scores + j,
            .sums_stride = sizes_.block_keys,
            .accumulate = false});
    }
    for (std::int64_t pair = 0; pair < num_pairs; ++pair) {
      softmax_pair(first, rows, pair, keys, num_keys);
    }
    float* sums = scratch_.sums + first * sizes_.padded_dim;
    if (!first_block) rescale(first, 2 * num_pairs);
    for (std::int64_t c = 0; c < sizes_.padded_dim; c += gemm_.panel_cols) {
      tile({.block = as_bytes(scratch_.weights),
            .panels = as_bytes(scratch_.values + c * block_keys),
            .depth = num_keys,
            .sums = sums + c,
            .sums_stride = sizes_.padded_dim,
            .accumulate = !first_block});
    }
  }

  // How many leading keys of the block a row of the chunk may see.
  std::int64_t seen_keys(std::int64_t row, Range keys) const {
    const std::int64_t end =
        args_.causal ? std::min(keys.end, first_position_ + row + 1) : keys.end;
    return std::max<std::int64_t>(0, end - keys.begin);
  }

  // How many leading keys of the block the window hides from a row that sees the block's end.
  std::int64_t hidden_keys(std::int64_t row, Range keys) const {
    const std::int64_t first = first_key(args_, first_position_ + row);
    return std::clamp<std::int64_t>(first - keys.begin, 0, seen_keys(row, keys));
  }

  // style: allow(parameters) the coordinates of one pair of rows
  void softmax_pair(std::int64_t first, Range rows, std::int64_t pair, Range keys,
                    std::int64_t num_keys) {
    const std::int64_t r = rows.begin + 2 * pair;
    const std::int64_t last = std::min(r + 1, rows.end - 1);  // a lone row is paired with itself
    float* scores = scratch_.scores + 2 * pair * sizes_.block_keys;
    kernels_.softmax_pair({.scores = {scores, scores + sizes_.block_keys},
                           .num_keys = num_keys,
                           .first_seen = {hidden_keys(r, keys), hidden_keys(last, keys)},
                           .end_seen = {seen_keys(r, keys), seen_keys(last, keys)},
                           .weights = scratch_.weights + 2 * pair * num_keys,
                           .state = state_ + first + 2 * pair});
  }

  // Brings the sums of earlier blocks to the new maxima.
  void rescale(std::int64_t first, std::int64_t num_rows) {
    for (std::int64_t r = first; r < first + num_rows; ++r) {
      if (state_[r].correction == 1.0f) continue;
      kernels_.scale_row(scratch_.sums + r * sizes_.padded_dim, sizes_.padded_dim,
                         state_[r].correction);
    }
  }

  void finish() {
    for (std::int64_t head = 0; head < sizes_.groups; ++head) {
      for (std::int64_t r = 0; r < num_queries(); ++r) {
        const std::int64_t row = head * sizes_.chunk_queries + r;
        kernels_.divide_row(scratch_.sums + row * sizes_.padded_dim, sizes_.head_dim,
                            state_[row].sum,
                            args_.out.row(first_row_ + queries_.begin + r) + q_column(head));
      }
    }
  }

  const AttentionArgs& args_;
  const GemmKernels& gemm_;
  const AttentionKernels& kernels_;
  const AttentionSizes& sizes_;
  AttentionScratch scratch_;
  SoftmaxState* state_;
  std::int64_t first_row_ = 0;  // of the sequence
  std::int64_t kv_head_ = 0;
  Range queries_{0, 0};  // the chunk, relative to the sequence's tokens of this batch
  KeysValues keys_values_;
  std::int64_t first_position_ = 0;  // of the chunk's first query among the keys
};

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
    ChunkAttention chunk(args, gemm, kernels, sizes, memory + t * floats_per_thread,
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
