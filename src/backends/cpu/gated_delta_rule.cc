// The gated delta rule by chunks. With G the decays' sum since the chunk's start, S the matrix at
// the chunk's start and u the deltas, token i of a chunk is
//   u_i = beta_i (v_i - exp(G_i) S^T k_i - sum_{j < i} exp(G_i - G_j) (k_i . k_j) u_j)
//   o_i = exp(G_i) S^T q_i + sum_{j <= i} exp(G_i - G_j) (q_i . k_j) u_j
// and a whole chunk turns S into exp(G) S + sum_j exp(G - G_j) k_j u_j^T. Nothing but S and the
// chunk's own tokens enters, in a fixed order: prefill and decoding give the same bits.
#include "ops/gated_delta_rule.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/delta_rule.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

namespace lattice {
namespace {

constexpr std::int64_t kChunk = kDeltaRuleChunk;

// One thread's scratch memory.
class DeltaRuleScratch {
 public:
  DeltaRuleScratch(Workspace& workspace, const DeltaRuleShape& shape, bool with_state)
      : rows(workspace.floats(2 * kChunk * shape.key_head_dim).data()),
        scores(workspace.floats(2 * kChunk * kChunk).data()),
        products(workspace.floats(2 * kChunk * shape.value_stride()).data()),
        weighted_keys(workspace.floats(shape.key_head_dim * kChunk).data()) {
    if (!with_state) return;
    const std::int64_t group = shape.num_value_heads / shape.num_key_heads;
    matrix = workspace.floats(group * shape.key_head_dim * shape.value_stride()).data();
    keys = workspace.floats(shape.key_head_dim * kChunk).data();
    deltas = workspace.floats(group * kChunk * shape.value_stride()).data();
    decays = workspace.array<double>(group * kChunk).data();
  }

  float* rows;           // [2 * kChunk, key_head_dim]: keys, then queries, of new tokens
  float* scores;         // [2 * kChunk, kChunk]: rows . keys of the chunk
  float* products;       // [2 * kChunk, value_stride]: S^T rows
  float* weighted_keys;  // [key_head_dim, kChunk]
  // The state of one key head's group of a sequence that keeps none.
  float* matrix = nullptr;
  float* keys = nullptr;
  float* deltas = nullptr;
  double* decays = nullptr;
};

// One key head of one sequence, with the value heads that read it.
class KeyHeadTask {
 public:
  KeyHeadTask(const GatedDeltaRuleArgs& args, const DeltaRuleKernels& kernels,
              const DeltaRuleScratch& scratch)
      : args_(args), shape_(args.shape), kernels_(kernels), scratch_(scratch) {}

  void run(std::int64_t seq, std::int64_t key_head) {
    key_head_ = key_head;
    first_head_ = key_head * group();
    open_state(args_.states.empty() ? nullptr : args_.states[static_cast<std::size_t>(seq)]);
    const std::int64_t end = args_.layout.end(seq);
    for (std::int64_t row = args_.layout.begin(seq); row < end;) {
      if (num_pending_ == kChunk) fold_chunk();
      const std::int64_t count = std::min(end - row, kChunk - num_pending_);
      add_tokens(row, count);
      row += count;
    }
  }

 private:
  std::int64_t group() const { return shape_.num_value_heads / shape_.num_key_heads; }
  float* matrix(std::int64_t i) const {
    return matrix_ + i * shape_.key_head_dim * shape_.value_stride();
  }
  float* deltas(std::int64_t i) const { return deltas_ + i * kChunk * shape_.value_stride(); }
  double* decays(std::int64_t i) const { return decays_ + i * kChunk; }

  void open_state(const DeltaRuleState* state) {
    const std::int64_t matrix_size = shape_.key_head_dim * shape_.value_stride();
    if (state == nullptr) {
      matrix_ = scratch_.matrix;
      keys_ = scratch_.keys;
      deltas_ = scratch_.deltas;
      decays_ = scratch_.decays;
      num_pending_ = 0;
      std::fill_n(matrix_, group() * matrix_size, 0.0f);
      return;
    }
    matrix_ = state->matrix + first_head_ * matrix_size;
    keys_ = state->keys + key_head_ * shape_.key_head_dim * kChunk;
    deltas_ = state->deltas + first_head_ * kChunk * shape_.value_stride();
    decays_ = state->decays + first_head_ * kChunk;
    num_pending_ = state->num_pending;
  }

  void fold_chunk() {
    for (std::int64_t i = 0; i < group(); ++i) {
      float weights[kChunk];
      kernels_.decay_to(decays(i), kChunk - 1, weights);
      for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
        for (std::int64_t j = 0; j < kChunk; ++j) {
          scratch_.weighted_keys[d * kChunk + j] = keys_[d * kChunk + j] * weights[j];
        }
      }
      kernels_.product({.a = scratch_.weighted_keys,
                        .a_stride = kChunk,
                        .rows = shape_.key_head_dim,
                        .b = deltas(i),
                        .b_stride = shape_.value_stride(),
                        .depth = kChunk,
                        .out = matrix(i),
                        .out_stride = shape_.value_stride(),
                        .cols = shape_.value_stride(),
                        .accumulate = true,
                        .kept = static_cast<float>(std::exp(decays(i)[kChunk - 1]))});
    }
    num_pending_ = 0;
  }

  // Tokens [row, row + count) of the batch, all of the current chunk.
  void add_tokens(std::int64_t row, std::int64_t count) {
    add_keys(row, count);
    const std::int64_t cols = (num_pending_ + count + 15) / 16 * 16;
    multiply_rows(2 * count, {.b = keys_, .b_stride = kChunk}, cols, scratch_.scores, kChunk);
    for (std::int64_t i = 0; i < group(); ++i) {
      multiply_rows(2 * count, {.b = matrix(i), .b_stride = shape_.value_stride()},
                    shape_.value_stride(), scratch_.products, shape_.value_stride());
      for (std::int64_t t = 0; t < count; ++t) add_token(i, row, t, count);
    }
    num_pending_ += count;
  }

  // The normalised keys and queries as rows, the keys as columns of the state as well.
  void add_keys(std::int64_t row, std::int64_t count) {
    const std::int64_t dim = shape_.key_head_dim;
    const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
    for (std::int64_t t = 0; t < count; ++t) {
      float* key = scratch_.rows + t * dim;
      kernels_.normalize(args_.k.row(row + t) + key_head_ * dim, dim, 1.0f, key);
      kernels_.normalize(args_.q.row(row + t) + key_head_ * dim, dim, scale,
                         scratch_.rows + (count + t) * dim);
      for (std::int64_t d = 0; d < dim; ++d) keys_[d * kChunk + num_pending_ + t] = key[d];
    }
  }

  struct RightSide {
    const float* b;
    std::int64_t b_stride;
  };
  // style: allow(parameters) a product's right side and its output
  void multiply_rows(std::int64_t rows, RightSide right, std::int64_t cols, float* out,
                     std::int64_t out_stride) {
    kernels_.product({.a = scratch_.rows,
                      .a_stride = shape_.key_head_dim,
                      .rows = rows,
                      .b = right.b,
                      .b_stride = right.b_stride,
                      .depth = shape_.key_head_dim,
                      .out = out,
                      .out_stride = out_stride,
                      .cols = cols});
  }

  // Token t of the `count` new ones, for value head `i` of the group.
  void add_token(std::int64_t i, std::int64_t first_row, std::int64_t t, std::int64_t count) {
    const std::int64_t head = first_head_ + i;
    const std::int64_t index = num_pending_ + t;
    const std::int64_t row = first_row + t;
    const auto h = static_cast<std::size_t>(head);
    const double decay = delta_rule_log_decay(std::exp(static_cast<double>(args_.a_log[h])),
                                              static_cast<double>(args_.a.row(row)[head]),
                                              static_cast<double>(args_.dt_bias[h]));
    decays(i)[index] = (index == 0 ? 0.0 : decays(i)[index - 1]) + decay;
    const std::int64_t column = head * shape_.value_head_dim;
    kernels_.token({.index = index,
                    .decays = decays(i),
                    .key_scores = scratch_.scores + t * kChunk,
                    .query_scores = scratch_.scores + (count + t) * kChunk,
                    .key_product = scratch_.products + t * shape_.value_stride(),
                    .query_product = scratch_.products + (count + t) * shape_.value_stride(),
                    .v = args_.v.row(row) + column,
                    .beta = static_cast<float>(apply_activation(
                        Activation::kSigmoid, static_cast<double>(args_.b.row(row)[head]))),
                    .deltas = deltas(i),
                    .value_stride = shape_.value_stride(),
                    .value_head_dim = shape_.value_head_dim,
                    .out = args_.out.row(row) + column});
  }

  const GatedDeltaRuleArgs& args_;
  const DeltaRuleShape& shape_;
  const DeltaRuleKernels& kernels_;
  DeltaRuleScratch scratch_;
  std::int64_t key_head_ = 0;
  std::int64_t first_head_ = 0;  // the group's first value head
  // The group's part of the sequence's state.
  float* matrix_ = nullptr;
  float* keys_ = nullptr;
  float* deltas_ = nullptr;
  double* decays_ = nullptr;
  std::int64_t num_pending_ = 0;
};

std::int64_t pending_after(std::int64_t pending, std::int64_t count) {
  return count == 0 ? pending : (pending + count - 1) % kChunk + 1;
}

}  // namespace

void CpuBackend::gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const {
  const DeltaRuleKernels& kernels = *delta_rule_kernels(target_);
  const DeltaRuleShape& shape = args.shape;
  const std::int64_t num_tasks = args.layout.num_seqs() * shape.num_key_heads;
  const std::int64_t total = args.layout.num_tokens() * shape.num_key_heads;
  if (total == 0) return;
  const std::int64_t group = shape.num_value_heads / shape.num_key_heads;
  const std::int64_t token_cycles =
      group * shape.key_head_dim * shape.value_stride() / 4 + kChunk * shape.key_head_dim / 8;
  const std::int64_t num_threads = useful_threads(context.threads(), total * token_cycles);
  const Workspace::Scope scope(context.workspace());
  std::vector<DeltaRuleScratch> scratch;
  for (std::int64_t t = 0; t < num_threads; ++t) {
    scratch.emplace_back(context.workspace(), shape, args.states.empty());
  }
  context.threads().parallel_for(
      static_cast<std::size_t>(num_threads), [&](std::size_t thread, std::size_t) {
        const Range share = split(total, static_cast<std::int64_t>(thread), num_threads);
        KeyHeadTask task(args, kernels, scratch[thread]);
        std::int64_t start = 0;
        // The thread runs the tasks that start in its part of the total.
        for (std::int64_t i = 0; i < num_tasks; ++i) {
          const std::int64_t seq = i / shape.num_key_heads;
          if (start >= share.begin && start < share.end) task.run(seq, i % shape.num_key_heads);
          start += args.layout.length(seq);
        }
      });
  for (std::size_t s = 0; s < args.states.size(); ++s) {
    DeltaRuleState& state = *args.states[s];
    state.num_pending =
        pending_after(state.num_pending, args.layout.length(static_cast<std::int64_t>(s)));
  }
}

}  // namespace lattice
