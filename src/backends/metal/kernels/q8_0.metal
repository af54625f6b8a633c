// Weights and activations in blocks of 32 signed bytes with a scale: exact integers within a block,
// f32 sums over blocks. Blocks are stored apart from their scales, so that both are aligned.

// scale = largest / 127, quants = x * (127 / largest) to the nearest integer. A SIMD group per block
// of a row: grid: rows, blocks / SIMD groups. Values that are not finite give a scale that is NaN.
kernel void quantize_q8_0(device const float* x [[buffer(0)]], device float* scales [[buffer(1)]],
                          device int8_t* quants [[buffer(2)]],
                          constant QuantizeParams& params [[buffer(3)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint num_sg [[simdgroups_per_threadgroup]]) {
  const uint block = group.y * num_sg + sg;
  if (block >= params.num_blocks) return;
  const uint column = block * 32 + lane;
  const float value = column < params.depth ? x[group.x * params.x_stride + column] : 0.0f;
  const bool is_finite = fabs(value) <= 3.40282347e38f;
  const float largest = simd_max(fabs(value));
  const bool all_finite = simd_all(is_finite);
  // Below 2^-121 the inverse would overflow; such products do not count.
  const float inverse = largest > 3.7615819e-37f && all_finite ? 127.0f / largest : 0.0f;
  const uint place = group.x * params.num_blocks + block;
  quants[place * 32 + lane] = int8_t(all_finite ? rint(value * inverse) : 0.0f);
  if (lane == 0) scales[place] = all_finite ? largest / 127.0f : as_type<float>(0x7fc00000u);
}

// As the other GEMMs. A SIMD group per output; grid: columns / SIMD groups, rows.
kernel void gemm_q8_0(device const float* x_scales [[buffer(0)]],
                      device const int8_t* x_quants [[buffer(1)]],
                      device const float* weight_scales [[buffer(2)]],
                      device const int8_t* weight_quants [[buffer(3)]],
                      device const float* bias [[buffer(4)]],
                      device const float* residual [[buffer(5)]],
                      device float* out [[buffer(6)]], constant GemmParams& params [[buffer(7)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint num_sg [[simdgroups_per_threadgroup]]) {
  const uint column = group.x * num_sg + sg;
  if (column >= params.num_columns) return;
  const uint num_blocks = (params.depth + 31) / 32;
  float sum = 0.0f;
  for (uint block = lane; block < num_blocks; block += 32) {
    const uint x_place = group.y * num_blocks + block;
    const ulong weight_place = ulong(column) * num_blocks + block;
    int products = 0;
    for (uint i = 0; i < 32; ++i) {
      products += int(x_quants[x_place * 32 + i]) * int(weight_quants[weight_place * 32 + i]);
    }
    sum += float(products) * (x_scales[x_place] * weight_scales[weight_place]);
  }
  sum = simd_sum(sum);
  if (lane != 0) return;
  const GemmBuffers<float> buffers = {x_scales, weight_scales, bias, residual, out};
  store_result(buffers, params, sum, group.y, column);
}
