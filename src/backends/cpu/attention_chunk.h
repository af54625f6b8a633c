#pragma once

#include <cstdint>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/partition.h"
#include "ops/attention.h"

namespace lattice {

/// Sizes that all tasks of one attention call share.
///
/// Keys are visited in blocks, queries in chunks; both grids start at the sequence's first token,
/// so the bits of a sequence do not depend on where it lies. The rows of a chunk are its queries,
/// each with all heads of a KV group: row q * groups + head.
struct AttentionSizes {
  AttentionSizes(const AttentionArgs& args, const GemmKernels& gemm);

  /// Rows of a chunk, up to a whole tile.
  std::int64_t rows() const;

  std::int64_t groups;
  std::int64_t head_dim;
  std::int64_t padded_dim;  ///< a multiple of a panel
  std::int64_t tile_rows;
  std::int64_t block_keys;
  std::int64_t chunk_queries;
};

/// The first key that a query at `position` may see.
std::int64_t first_key(const AttentionArgs& args, std::int64_t position);

/// A thread's scratch memory; every part starts on a cache line.
struct AttentionScratch {
  /// Without memory: only counts.
  explicit AttentionScratch(const AttentionSizes& sizes, float* memory = nullptr);

  std::int64_t num_floats = 0;
  float* keys;     ///< panels [head_dim][panel_cols]
  float* values;   ///< panels [num_keys][panel_cols]
  float* queries;  ///< a block [pair][head_dim][2]
  float* scores;   ///< [tile_rows, block_keys]
  float* weights;  ///< a block [pair][num_keys][2]
  float* sums;     ///< [rows, padded_dim], relative to each row's running maximum
};

/// One task at a time: a chunk of queries of one sequence against its keys, for the heads of one KV
/// group. Used by one thread.
class AttentionChunk {
 public:
  /// `scratch` and `state` [sizes.rows()] are the thread's own; the rest is borrowed.
  AttentionChunk(const AttentionArgs& args, const GemmKernels& gemm,
                 const AttentionKernels& kernels, const AttentionSizes& sizes,
                 const AttentionScratch& scratch, SoftmaxState* state)
      : args_(args),
        gemm_(gemm),
        kernels_(kernels),
        sizes_(sizes),
        scratch_(scratch),
        state_(state) {}

  /// Writes the output of `queries`, which are relative to the sequence's tokens of this batch.
  void run(std::int64_t seq, std::int64_t kv_head, Range queries);

 private:
  std::int64_t num_rows() const { return sizes_.groups * (queries_.end - queries_.begin); }
  /// Whether nothing that is packed is used twice.
  bool is_lone_tile() const { return num_rows() <= sizes_.tile_rows; }
  /// The place among the keys of a row's query.
  std::int64_t position(std::int64_t row) const { return first_position_ + row / sizes_.groups; }
  std::int64_t batch_row(std::int64_t row) const;
  std::int64_t q_column(std::int64_t row) const;

  struct Tile {
    TileFunction function;
    std::int64_t panels;
  };
  Tile choose_tile(std::int64_t num_pairs, std::int64_t num_cols) const;

  void pack_queries();
  void visit_block(Range keys);
  void visit_tile(Range rows, Range keys);
  void multiply_keys(Range rows, Range keys, std::int64_t num_keys);
  void multiply_values(Range rows, Range keys, std::int64_t num_keys, bool accumulate);
  float* pack_keys(Range keys);
  float* pack_values(Range keys);
  std::int64_t seen_keys(std::int64_t row, Range keys) const;
  std::int64_t hidden_keys(std::int64_t row, Range keys) const;
  void softmax_pair(Range rows, std::int64_t pair, Range keys, std::int64_t num_keys);
  void rescale(Range rows);
  void finish();

  const AttentionArgs& args_;
  const GemmKernels& gemm_;
  const AttentionKernels& kernels_;
  const AttentionSizes& sizes_;
  AttentionScratch scratch_;
  SoftmaxState* state_;
  std::int64_t first_row_ = 0;  // of the chunk's first query in the batch
  std::int64_t kv_head_ = 0;
  Range queries_{0, 0};
  KeysValues keys_values_;
  std::int64_t first_position_ = 0;  // of the chunk's first query among the keys
};

}  // namespace lattice
