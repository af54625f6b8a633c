#include "backends/cpu/attention_chunk.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>
#include <span>

namespace lattice {
namespace {

// Packed keys and values of a block stay in L2 (head_dim <= 64: 128 KiB each), the scores of a tile
// in L1.
constexpr std::int64_t kBlockFloats = 32 * 1024;
constexpr std::int64_t kMaxTileScores = 3072;
// Rows per task: enough to pay for packing the keys.
constexpr std::int64_t kChunkRows = 256;
constexpr std::int64_t kMinChunkQueries = 48;
// A lone tile takes the values in pieces that it finds in L1.
constexpr std::int64_t kPieceKeys = kMaxPanelCols;
static_assert(std::has_single_bit(static_cast<std::uint64_t>(kKvPageTokens)) &&
              std::has_single_bit(static_cast<std::uint64_t>(kMaxPanelCols)));

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::byte* as_bytes(float* p) { return std::as_writable_bytes(std::span(p, 1)).data(); }

}  // namespace

AttentionSizes::AttentionSizes(const AttentionArgs& args, const GemmKernels& gemm)
    : groups(args.num_heads / args.num_kv_heads),
      head_dim(args.head_dim),
      padded_dim(round_up(args.head_dim, gemm.panel_cols)),
      tile_rows(gemm.max_rows) {
  const std::int64_t keys = std::min(kBlockFloats / padded_dim, kMaxTileScores / tile_rows);
  // A power of two, so that no block lies in two pages.
  block_keys =
      std::clamp(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(keys))),
                 kMaxPanelCols, kKvPageTokens);
  chunk_queries = std::max(kChunkRows / groups, kMinChunkQueries);
}

std::int64_t AttentionSizes::rows() const { return round_up(groups * chunk_queries, tile_rows); }

std::int64_t first_key(const AttentionArgs& args, std::int64_t position) {
  return args.window > 0 ? std::max<std::int64_t>(0, position + 1 - args.window) : 0;
}

AttentionScratch::AttentionScratch(const AttentionSizes& sizes, float* memory) {
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

void AttentionChunk::run(std::int64_t seq, std::int64_t kv_head, Range queries) {
  first_row_ = args_.layout.begin(seq) + queries.begin;
  kv_head_ = kv_head;
  queries_ = queries;
  keys_values_ = args_.keys_values(seq);
  first_position_ = keys_values_.num_keys() - args_.layout.length(seq) + queries.begin;
  std::fill_n(state_, round_up(num_rows(), 2),
              SoftmaxState{-std::numeric_limits<float>::infinity(), 0.0f, 0.0f});
  pack_queries();
  const std::int64_t num_keys =
      args_.causal ? position(num_rows() - 1) + 1 : keys_values_.num_keys();
  const std::int64_t first = first_key(args_, first_position_) / sizes_.block_keys;
  for (std::int64_t j = first * sizes_.block_keys; j < num_keys; j += sizes_.block_keys) {
    visit_block({j, std::min(j + sizes_.block_keys, num_keys)});
  }
  finish();
}

std::int64_t AttentionChunk::batch_row(std::int64_t row) const {
  return first_row_ + row / sizes_.groups;
}

std::int64_t AttentionChunk::q_column(std::int64_t row) const {
  return (kv_head_ * sizes_.groups + row % sizes_.groups) * sizes_.head_dim;
}

void AttentionChunk::pack_queries() {
  const auto query = [this](std::int64_t row) {
    return args_.q.row(batch_row(row)) + q_column(row);
  };
  for (std::int64_t r = 0; r < num_rows(); r += 2) {
    const std::int64_t last = std::min(r + 1, num_rows() - 1);  // a lone row: paired with itself
    gemm_.pack_block(query(r), query(last) - query(r), 2, sizes_.head_dim,
                     as_bytes(scratch_.queries + r * sizes_.head_dim));
  }
}

// Several tiles share what is packed, in L2; a lone tile finds it in L1, piece by piece.
void AttentionChunk::visit_block(Range keys) {
  if (!is_lone_tile()) {
    pack_keys(keys);
    pack_values(keys);
  }
  for (std::int64_t r = 0; r < num_rows(); r += sizes_.tile_rows) {
    visit_tile({r, std::min(r + sizes_.tile_rows, num_rows())}, keys);
  }
}

float* AttentionChunk::pack_keys(Range keys) {
  // Scores come out in units of log 2.
  const auto factor = static_cast<float>(static_cast<double>(args_.scale) * std::numbers::log2e);
  kernels_.pack_keys(keys_values_.key(keys.begin, kv_head_), keys_values_.key_stride(),
                     keys.end - keys.begin, sizes_.head_dim, factor, scratch_.keys);
  return scratch_.keys;
}

float* AttentionChunk::pack_values(Range keys) {
  kernels_.pack_values(keys_values_.value(keys.begin, kv_head_), keys_values_.value_stride(),
                       keys.end - keys.begin, sizes_.head_dim, scratch_.values);
  return scratch_.values;
}

// Rows [rows.begin, rows.end) of the chunk against one block of keys.
void AttentionChunk::visit_tile(Range rows, Range keys) {
  const std::int64_t num_keys = seen_keys(rows.end - 1, keys);
  const std::int64_t first_seen = first_key(args_, position(rows.begin));
  if (num_keys == 0 || first_seen >= keys.end) return;
  const bool first_block = first_seen >= keys.begin;
  multiply_keys(rows, keys, num_keys);
  for (std::int64_t pair = 0; 2 * pair < rows.end - rows.begin; ++pair) {
    softmax_pair(rows, pair, keys, num_keys);
  }
  if (!first_block) rescale(rows);
  multiply_values(rows, keys, num_keys, !first_block);
}

void AttentionChunk::multiply_keys(Range rows, Range keys, std::int64_t num_keys) {
  const bool lone = is_lone_tile();
  const std::int64_t num_pairs = (rows.end - rows.begin + 1) / 2;
  for (std::int64_t j = 0, step = 0; j < num_keys; j += step) {
    const Tile tile = choose_tile(num_pairs, num_keys - j);
    step = tile.panels * gemm_.panel_cols;
    const std::int64_t end = std::min(keys.begin + j + step, keys.end);
    tile.function({.block = as_bytes(scratch_.queries + rows.begin * sizes_.head_dim),
                   .panels = as_bytes(lone ? pack_keys({keys.begin + j, end})
                                           : scratch_.keys + j * sizes_.head_dim),
                   .depth = sizes_.head_dim,
                   .sums = scratch_.scores + j,
                   .sums_stride = sizes_.block_keys,
                   .accumulate = false});
  }
}

void AttentionChunk::multiply_values(Range rows, Range keys, std::int64_t num_keys,
                                     bool accumulate) {
  const bool lone = is_lone_tile();
  const std::int64_t num_pairs = (rows.end - rows.begin + 1) / 2;
  const std::int64_t piece = lone ? kPieceKeys : num_keys;
  for (std::int64_t j = 0; j < num_keys; j += piece) {
    const std::int64_t depth = std::min(piece, num_keys - j);
    const std::int64_t packed = lone ? depth : keys.end - keys.begin;
    float* values = lone ? pack_values({keys.begin + j, keys.begin + j + depth}) : scratch_.values;
    for (std::int64_t c = 0, step = 0; c < sizes_.padded_dim; c += step) {
      // The panels of a whole block are as long as the block, not as what is seen of it.
      const Tile tile = choose_tile(num_pairs, packed == depth ? sizes_.padded_dim - c : 1);
      step = tile.panels * gemm_.panel_cols;
      tile.function({.block = as_bytes(scratch_.weights + 2 * j),
                     .panels = as_bytes(values + c * packed),
                     .depth = depth,
                     .sums = scratch_.sums + rows.begin * sizes_.padded_dim + c,
                     .sums_stride = sizes_.padded_dim,
                     .accumulate = accumulate || j > 0,
                     .pair_stride = 2 * num_keys});
    }
  }
}

// Two panels at once keep a lone pair's chains apart.
AttentionChunk::Tile AttentionChunk::choose_tile(std::int64_t num_pairs,
                                                 std::int64_t num_cols) const {
  if (num_pairs == 1 && num_cols > gemm_.panel_cols) return {gemm_.pair_wide, 2};
  return {gemm_.tiles[static_cast<std::size_t>(num_pairs - 1)], 1};
}

// How many leading keys of the block a row of the chunk may see.
std::int64_t AttentionChunk::seen_keys(std::int64_t row, Range keys) const {
  const std::int64_t end = args_.causal ? std::min(keys.end, position(row) + 1) : keys.end;
  return std::max<std::int64_t>(0, end - keys.begin);
}

// How many leading keys of the block the window hides from a row that sees the block's end.
std::int64_t AttentionChunk::hidden_keys(std::int64_t row, Range keys) const {
  const std::int64_t first = first_key(args_, position(row));
  return std::clamp<std::int64_t>(first - keys.begin, 0, seen_keys(row, keys));
}

void AttentionChunk::softmax_pair(Range rows, std::int64_t pair, Range keys,
                                  std::int64_t num_keys) {
  const std::int64_t r = rows.begin + 2 * pair;
  const std::int64_t last = std::min(r + 1, rows.end - 1);  // a lone row is paired with itself
  float* scores = scratch_.scores + 2 * pair * sizes_.block_keys;
  kernels_.softmax_pair({.scores = {scores, scores + sizes_.block_keys},
                         .num_keys = num_keys,
                         .first_seen = {hidden_keys(r, keys), hidden_keys(last, keys)},
                         .end_seen = {seen_keys(r, keys), seen_keys(last, keys)},
                         .weights = scratch_.weights + 2 * pair * num_keys,
                         .state = state_ + r});
}

// Brings the sums of earlier blocks to the new maxima; a lone row's twin too.
void AttentionChunk::rescale(Range rows) {
  for (std::int64_t r = rows.begin; r < round_up(rows.end, 2); ++r) {
    if (state_[r].correction == 1.0f) continue;
    kernels_.scale_row(scratch_.sums + r * sizes_.padded_dim, sizes_.padded_dim,
                       state_[r].correction);
  }
}

void AttentionChunk::finish() {
  for (std::int64_t r = 0; r < num_rows(); ++r) {
    kernels_.divide_row(scratch_.sums + r * sizes_.padded_dim, sizes_.head_dim, state_[r].sum,
                        args_.out.row(batch_row(r)) + q_column(r));
  }
}

}  // namespace lattice
