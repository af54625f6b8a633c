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

inline int dot_bytes(char4 a, char4 b) {
  return int(a.x) * int(b.x) + int(a.y) * int(b.y) + int(a.z) * int(b.z) + int(a.w) * int(b.w);
}

// The operands of gemm_q8_0, in blocks.
struct Q8Operands {
  device const float* x_scales;
  device const char4* x_quants;
  device const float* weight_scales;
  device const char4* weight_quants;
};

// Adds the products of one block of the weight with that block of up to four rows of x, for which
// the weight's block is read once.
inline void add_block(thread float (&sums)[kShortRows], thread const Q8Operands& operands,
                      ulong weight_place, uint x_place, uint2 rows_and_blocks) {
  char4 weight[8];
  for (uint i = 0; i < 8; ++i) weight[i] = operands.weight_quants[weight_place * 8 + i];
  const float scale = operands.weight_scales[weight_place];
  for (uint r = 0; r < kShortRows; ++r) {
    if (r >= rows_and_blocks.x) break;
    const uint place = x_place + r * rows_and_blocks.y;
    int products = 0;
    for (uint i = 0; i < 8; ++i) {
      products += dot_bytes(operands.x_quants[place * 8 + i], weight[i]);
    }
    sums[r] += float(products) * (operands.x_scales[place] * scale);
  }
}

// As the other GEMMs. A SIMD group per column and four rows, a lane per block: grid: rows / 4,
// columns / SIMD groups.
kernel void gemm_q8_0(device const float* x_scales [[buffer(0)]],
                      device const char4* x_quants [[buffer(1)]],
                      device const float* weight_scales [[buffer(2)]],
                      device const char4* weight_quants [[buffer(3)]],
                      device const float* bias [[buffer(4)]],
                      device const float* residual [[buffer(5)]],
                      device float* out [[buffer(6)]], constant GemmParams& params [[buffer(7)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint num_sg [[simdgroups_per_threadgroup]]) {
  const uint column = group.y * num_sg + sg;
  if (column >= params.num_columns) return;
  const uint first_row = group.x * kShortRows;
  const uint num_rows = min(params.num_rows - first_row, kShortRows);
  const uint num_blocks = (params.depth + 31) / 32;
  const Q8Operands operands = {x_scales, x_quants, weight_scales, weight_quants};
  float sums[kShortRows];
  for (uint r = 0; r < kShortRows; ++r) sums[r] = 0.0f;
  for (uint block = lane; block < num_blocks; block += 32) {
    add_block(sums, operands, ulong(column) * num_blocks + block,
              first_row * num_blocks + block, uint2(num_rows, num_blocks));
  }
  const GemmBuffers<float> buffers = {x_scales, weight_scales, bias, residual, out};
  for (uint r = 0; r < kShortRows; ++r) {
    const float sum = simd_sum(sums[r]);
    if (lane == r && r < num_rows) {
      store_result(buffers, params, sum, first_row + r, column);
    }
  }
}
