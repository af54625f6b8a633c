// For few rows: a SIMD group per column, which reads its row of the weight once for up to four rows.
// Grid: rows / 4, columns / SIMD groups.
constexpr constant uint kShortRows = 4;

template <typename A, typename W>
inline void gemm_short(thread const GemmBuffers<W>& buffers, constant GemmParams& params,
                       uint column, uint first_row, uint lane) {
  if (column >= params.num_columns) return;
  float sums[kShortRows];
  for (uint r = 0; r < kShortRows; ++r) sums[r] = 0.0f;
  for (uint i = lane; i < params.depth; i += 32) {
    const float w = float(buffers.weight[ulong(column) * params.depth + i]);
    for (uint r = 0; r < kShortRows; ++r) {
      if (first_row + r >= params.num_rows) break;
      sums[r] += rounded_to<A>(buffers.x[(first_row + r) * params.x_stride + i]) * w;
    }
  }
  for (uint r = 0; r < kShortRows; ++r) {
    const float sum = simd_sum(sums[r]);
    if (lane == r && first_row + r < params.num_rows) {
      store_result(buffers, params, sum, first_row + r, column);
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
  gemm_short<float>(buffers, params, group.y * num_sg + sg, group.x * kShortRows, lane);
}

kernel void gemm_short_f16(device const float* x [[buffer(0)]],
                           device const half* weight [[buffer(1)]],
                           device const float* bias [[buffer(2)]],
                           device const float* residual [[buffer(3)]],
                           device float* out [[buffer(4)]],
                           constant GemmParams& params [[buffer(5)]],
                           uint2 group [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint num_sg [[simdgroups_per_threadgroup]]) {
  const GemmBuffers<half> buffers = {x, weight, bias, residual, out};
  gemm_short<float>(buffers, params, group.y * num_sg + sg, group.x * kShortRows, lane);
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
  gemm_short<float>(buffers, params, group.y * num_sg + sg, group.x * kShortRows, lane);
}

kernel void gemm_short_bf16_rounded(device const float* x [[buffer(0)]],
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
  gemm_short<bfloat>(buffers, params, group.y * num_sg + sg, group.x * kShortRows, lane);
}
