// out[M, N] = activation(x[M, K] weight[N, K]^T + bias[N]) + residual[M, N]. f32 sums. With bfloat
// weights x is rounded to bfloat too.

template <typename T>
struct GemmBuffers {
  device const float* x;
  device const T* weight;
  device const float* bias;
  device const float* residual;
  device float* out;
};

// An activation as it enters products with weights of type T.
template <typename T>
inline float rounded_to(float value) {
  return float(T(value));
}

template <typename T>
inline void store_result(thread const GemmBuffers<T>& buffers, constant GemmParams& params,
                         float sum, uint row, uint column) {
  if (params.has_bias != 0) sum += buffers.bias[column];
  sum = apply_activation(params.activation, sum);
  if (params.has_residual != 0) sum += buffers.residual[row * params.residual_stride + column];
  buffers.out[row * params.out_stride + column] = sum;
}

// For few rows: a SIMD group per column, which reads its row of the weight once for up to four rows.
// Grid: columns / SIMD groups, rows / 4.
constexpr constant uint kShortRows = 4;

template <typename T>
inline void gemm_short(thread const GemmBuffers<T>& buffers, constant GemmParams& params,
                       uint column, uint first_row, uint lane) {
  if (column >= params.num_columns) return;
  float sums[kShortRows];
  for (uint r = 0; r < kShortRows; ++r) sums[r] = 0.0f;
  for (uint i = lane; i < params.depth; i += 32) {
    const float w = float(buffers.weight[ulong(column) * params.depth + i]);
    for (uint r = 0; r < kShortRows; ++r) {
      if (first_row + r >= params.num_rows) break;
      sums[r] += rounded_to<T>(buffers.x[(first_row + r) * params.x_stride + i]) * w;
    }
  }
  for (uint r = 0; r < kShortRows; ++r) {
    const float sum = simd_sum(sums[r]);
    if (lane == r && first_row + r < params.num_rows) {
      store_result(buffers, params, sum, first_row + r, column);
    }
  }
}

// For many rows: tiles of 32 x 32 by four SIMD groups, 16 x 16 each. Threads: 128.
constexpr constant uint kTile = 32;
constexpr constant uint kTileDepth = 16;

struct GemmTiles {
  threadgroup float* x;
  threadgroup float* weight;
  threadgroup float* out;
};

// kTile rows and kTileDepth columns of a row-major matrix from (column, row) `first` on, as they
// enter products with T; zeros beyond its `size`.
template <typename T, typename M>
inline void load_tile(threadgroup float* tile, device const M* matrix, ulong stride, uint2 first,
                      uint2 size, uint tid) {
  for (uint i = tid; i < kTile * kTileDepth; i += 128) {
    const uint row = first.y + i / kTileDepth;
    const uint column = first.x + i % kTileDepth;
    const bool is_inside = row < size.y && column < size.x;
    tile[i] = is_inside ? rounded_to<T>(float(matrix[row * stride + column])) : 0.0f;
  }
}

// The products of a SIMD group's 16 x 16 part with the tiles that are loaded.
inline void multiply_tiles(thread simdgroup_float8x8 (&sums)[2][2], threadgroup const float* x,
                           threadgroup const float* weight) {
  for (uint i = 0; i < kTileDepth; i += 8) {
    simdgroup_float8x8 a[2];
    simdgroup_float8x8 b[2];
    for (uint r = 0; r < 2; ++r) {
      simdgroup_load(a[r], x + 8 * r * kTileDepth + i, kTileDepth);
      simdgroup_load(b[r], weight + 8 * r * kTileDepth + i, kTileDepth, ulong2(0, 0), true);
    }
    for (uint r = 0; r < 2; ++r) {
      for (uint c = 0; c < 2; ++c) {
        simdgroup_multiply_accumulate(sums[r][c], a[r], b[c], sums[r][c]);
      }
    }
  }
}

template <typename T>
inline void gemm_long(thread const GemmBuffers<T>& buffers, constant GemmParams& params,
                      thread const GemmTiles& tiles, uint2 group, uint tid, uint sg) {
  const uint first_row = group.y * kTile;
  const uint first_column = group.x * kTile;
  const uint tile_row = sg / 2 * 16;
  const uint tile_column = sg % 2 * 16;
  simdgroup_float8x8 sums[2][2];
  for (uint r = 0; r < 2; ++r) {
    for (uint c = 0; c < 2; ++c) sums[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  for (uint depth = 0; depth < params.depth; depth += kTileDepth) {
    load_tile<T>(tiles.x, buffers.x, params.x_stride, uint2(depth, first_row),
                 uint2(params.depth, params.num_rows), tid);
    load_tile<T>(tiles.weight, buffers.weight, params.depth, uint2(depth, first_column),
                 uint2(params.depth, params.num_columns), tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_tiles(sums, tiles.x + tile_row * kTileDepth, tiles.weight + tile_column * kTileDepth);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint r = 0; r < 2; ++r) {
    for (uint c = 0; c < 2; ++c) {
      simdgroup_store(sums[r][c], tiles.out + (tile_row + 8 * r) * kTile + tile_column + 8 * c,
                      kTile);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = tid; i < kTile * kTile; i += 128) {
    const uint row = first_row + i / kTile;
    const uint column = first_column + i % kTile;
    if (row < params.num_rows && column < params.num_columns) {
      store_result(buffers, params, tiles.out[i], row, column);
    }
  }
}

kernel void gemm_short_f32(device const float* x [[buffer(0)]],
                           device const float* weight [[buffer(1)]],
                           device const float* bias [[buffer(2)]],
                           device const float* residual [[buffer(3)]],
                           device float* out [[buffer(4)]],
                           constant GemmParams& params [[buffer(5)]],
                           uint2 group [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint num_sg [[simdgroups_per_threadgroup]]) {
  const GemmBuffers<float> buffers = {x, weight, bias, residual, out};
  gemm_short(buffers, params, group.x * num_sg + sg, group.y * kShortRows, lane);
}

kernel void gemm_short_bf16(device const float* x [[buffer(0)]],
                            device const bfloat* weight [[buffer(1)]],
                            device const float* bias [[buffer(2)]],
                            device const float* residual [[buffer(3)]],
                            device float* out [[buffer(4)]],
                            constant GemmParams& params [[buffer(5)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint num_sg [[simdgroups_per_threadgroup]]) {
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  gemm_short(buffers, params, group.x * num_sg + sg, group.y * kShortRows, lane);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_long_f32(device const float* x [[buffer(0)]],
                          device const float* weight [[buffer(1)]],
                          device const float* bias [[buffer(2)]],
                          device const float* residual [[buffer(3)]],
                          device float* out [[buffer(4)]],
                          constant GemmParams& params [[buffer(5)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTile * kTileDepth];
  threadgroup float weight_tile[kTile * kTileDepth];
  threadgroup float out_tile[kTile * kTile];
  const GemmBuffers<float> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_long(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_long_bf16(device const float* x [[buffer(0)]],
                           device const bfloat* weight [[buffer(1)]],
                           device const float* bias [[buffer(2)]],
                           device const float* residual [[buffer(3)]],
                           device float* out [[buffer(4)]],
                           constant GemmParams& params [[buffer(5)]],
                           uint2 group [[threadgroup_position_in_grid]],
                           uint tid [[thread_index_in_threadgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTile * kTileDepth];
  threadgroup float weight_tile[kTile * kTileDepth];
  threadgroup float out_tile[kTile * kTile];
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_long(buffers, params, tiles, group, tid, sg);
}
