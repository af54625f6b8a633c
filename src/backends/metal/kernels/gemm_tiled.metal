// For more rows: tiles by four SIMD groups, 128 threads. Two shapes with the same order of sums:
//
//   long    32 rows x 32 columns, 16 of the depth at a time; a SIMD group has 16 x 16. Each element
//           that is loaded serves 32 products.
//   medium  16 rows x 32 columns, 32 of the depth at a time; a SIMD group has 16 x 8. For at most 64
//           rows, where 32-row tiles would be too few to fill a GPU with and up to half empty: twice
//           as many tiles, and half as many barriers for each, which matters when few others run.
//
// Grid: blocks of rows, blocks of columns: threadgroups that read the same weights start together,
// so that all but the first find them in the cache.
constexpr constant uint kTileColumns = 32;
constexpr constant uint kBandRows = 16;
constexpr constant uint kTileElements = 512;  // of the smaller tiles

struct GemmTiles {
  threadgroup float* x;
  threadgroup float* weight;
  threadgroup float* out;
};

// kRows rows and kDepth columns of a row-major matrix from (column, row) `first` on, as they enter
// products with A; zeros beyond its `size`.
template <typename A, uint kRows, uint kDepth, typename M>
inline void load_tile(threadgroup float* tile, device const M* matrix, ulong stride, uint2 first,
                      uint2 size, uint tid) {
  for (uint i = tid; i < kRows * kDepth; i += 128) {
    const uint row = first.y + i / kDepth;
    const uint column = first.x + i % kDepth;
    const bool is_inside = row < size.y && column < size.x;
    tile[i] = is_inside ? rounded_to<A>(float(matrix[row * stride + column])) : 0.0f;
  }
}

// The products of a SIMD group's part with the tiles that are loaded.
template <uint kBands>
inline void multiply_tiles(thread simdgroup_float8x8 (&sums)[2][kBands],
                           threadgroup const float* x, threadgroup const float* weight) {
  const uint kDepth = 32 / kBands;
  for (uint i = 0; i < kDepth; i += 8) {
    simdgroup_float8x8 a[2];
    simdgroup_float8x8 b[kBands];
    for (uint r = 0; r < 2; ++r) simdgroup_load(a[r], x + 8 * r * kDepth + i, kDepth);
    for (uint c = 0; c < kBands; ++c) {
      simdgroup_load(b[c], weight + 8 * c * kDepth + i, kDepth, ulong2(0, 0), true);
    }
    for (uint r = 0; r < 2; ++r) {
      for (uint c = 0; c < kBands; ++c) {
        simdgroup_multiply_accumulate(sums[r][c], a[r], b[c], sums[r][c]);
      }
    }
  }
}

// kBands: bands of 16 rows in a tile. There are as many columns of 8 in a SIMD group's part.
template <typename A, uint kBands, typename W>
inline void gemm_tiled(thread const GemmBuffers<W>& buffers, constant GemmParams& params,
                       thread const GemmTiles& tiles, uint2 group, uint tid, uint sg) {
  const uint kRows = kBandRows * kBands;
  const uint kDepth = 32 / kBands;
  const uint first_row = group.x * kRows;
  const uint first_column = group.y * kTileColumns;
  const uint tile_row = sg % kBands * kBandRows;
  const uint tile_column = sg / kBands * (8 * kBands);
  simdgroup_float8x8 sums[2][kBands];
  for (uint r = 0; r < 2; ++r) {
    for (uint c = 0; c < kBands; ++c) {
      sums[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  for (uint depth = 0; depth < params.depth; depth += kDepth) {
    load_tile<A, kRows, kDepth>(tiles.x, buffers.x, params.x_stride, uint2(depth, first_row),
                                uint2(params.depth, params.num_rows), tid);
    load_tile<float, kTileColumns, kDepth>(tiles.weight, buffers.weight, params.depth,
                                           uint2(depth, first_column),
                                           uint2(params.depth, params.num_columns), tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_tiles<kBands>(sums, tiles.x + tile_row * kDepth, tiles.weight + tile_column * kDepth);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint r = 0; r < 2; ++r) {
    for (uint c = 0; c < kBands; ++c) {
      threadgroup float* to = tiles.out + (tile_row + 8 * r) * kTileColumns + tile_column + 8 * c;
      simdgroup_store(sums[r][c], to, kTileColumns);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = tid; i < kRows * kTileColumns; i += 128) {
    const uint row = first_row + i / kTileColumns;
    const uint column = first_column + i % kTileColumns;
    if (row < params.num_rows && column < params.num_columns) {
      store_result(buffers, params, tiles.out[i], row, column);
    }
  }
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_medium_f32(device const float* x [[buffer(0)]],
                            device const float* weight [[buffer(1)]],
                            device const float* bias [[buffer(2)]],
                            device const float* residual [[buffer(3)]],
                            device float* out [[buffer(4)]],
                            constant GemmParams& params [[buffer(5)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[2 * kTileElements];
  threadgroup float out_tile[kTileElements];
  const GemmBuffers<float> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 1>(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_medium_f16(device const float* x [[buffer(0)]],
                            device const half* weight [[buffer(1)]],
                            device const float* bias [[buffer(2)]],
                            device const float* residual [[buffer(3)]],
                            device float* out [[buffer(4)]],
                            constant GemmParams& params [[buffer(5)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[2 * kTileElements];
  threadgroup float out_tile[kTileElements];
  const GemmBuffers<half> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 1>(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_medium_bf16(device const float* x [[buffer(0)]],
                             device const bfloat* weight [[buffer(1)]],
                             device const float* bias [[buffer(2)]],
                             device const float* residual [[buffer(3)]],
                             device float* out [[buffer(4)]],
                             constant GemmParams& params [[buffer(5)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[2 * kTileElements];
  threadgroup float out_tile[kTileElements];
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 1>(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_medium_bf16_rounded(device const float* x [[buffer(0)]],
                                     device const bfloat* weight [[buffer(1)]],
                                     device const float* bias [[buffer(2)]],
                                     device const float* residual [[buffer(3)]],
                                     device float* out [[buffer(4)]],
                                     constant GemmParams& params [[buffer(5)]],
                                     uint2 group [[threadgroup_position_in_grid]],
                                     uint tid [[thread_index_in_threadgroup]],
                                     uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[2 * kTileElements];
  threadgroup float out_tile[kTileElements];
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<bfloat, 1>(buffers, params, tiles, group, tid, sg);
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
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[kTileElements];
  threadgroup float out_tile[2 * kTileElements];
  const GemmBuffers<float> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 2>(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_long_f16(device const float* x [[buffer(0)]],
                          device const half* weight [[buffer(1)]],
                          device const float* bias [[buffer(2)]],
                          device const float* residual [[buffer(3)]],
                          device float* out [[buffer(4)]],
                          constant GemmParams& params [[buffer(5)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[kTileElements];
  threadgroup float out_tile[2 * kTileElements];
  const GemmBuffers<half> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 2>(buffers, params, tiles, group, tid, sg);
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
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[kTileElements];
  threadgroup float out_tile[2 * kTileElements];
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<float, 2>(buffers, params, tiles, group, tid, sg);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_long_bf16_rounded(device const float* x [[buffer(0)]],
                                   device const bfloat* weight [[buffer(1)]],
                                   device const float* bias [[buffer(2)]],
                                   device const float* residual [[buffer(3)]],
                                   device float* out [[buffer(4)]],
                                   constant GemmParams& params [[buffer(5)]],
                                   uint2 group [[threadgroup_position_in_grid]],
                                   uint tid [[thread_index_in_threadgroup]],
                                   uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float x_tile[kTileElements];
  threadgroup float weight_tile[kTileElements];
  threadgroup float out_tile[2 * kTileElements];
  const GemmBuffers<bfloat> buffers = {x, weight, bias, residual, out};
  const GemmTiles tiles = {x_tile, weight_tile, out_tile};
  gemm_tiled<bfloat, 2>(buffers, params, tiles, group, tid, sg);
}
