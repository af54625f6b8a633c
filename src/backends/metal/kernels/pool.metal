// From token vectors to one vector per sequence, and from logits to a token.

// Same numbers as the enum PoolingMode of the host; 2, the mean, is what is left over.
constexpr constant uint kPoolCls = 0;
constexpr constant uint kPoolMax = 1;
constexpr constant uint kPoolMeanSqrtLen = 3;
constexpr constant uint kPoolWeightedMean = 4;
constexpr constant uint kPoolLastToken = 5;

// Column `column` of a sequence's rows [begin, end) pooled; the first `skip` rows are left out.
inline float pool_column(device const float* x, constant PoolParams& params, uint begin, uint end,
                         uint skip, uint column) {
  const uint first = begin + skip;
  if (params.mode == kPoolCls) {
    return begin < end ? x[(first < end ? first : begin) * params.x_stride + column] : 0.0f;
  }
  if (first >= end) return 0.0f;
  if (params.mode == kPoolLastToken) return x[(end - 1) * params.x_stride + column];
  float sum = 0.0f;
  float top = x[first * params.x_stride + column];
  float weights = 0.0f;
  for (uint row = first; row < end; ++row) {
    const float value = x[row * params.x_stride + column];
    const float weight = params.mode == kPoolWeightedMean ? float(row - begin + 1) : 1.0f;
    sum += weight * value;
    weights += weight;
    if (!(value <= top) && top == top) top = value;  // the first NaN stays
  }
  if (params.mode == kPoolMax) return top;
  return sum / (params.mode == kPoolMeanSqrtLen ? precise::sqrt(weights) : weights);
}

// Grid: sequences, blocks of columns.
kernel void pool(device const float* x [[buffer(0)]], device const int* cu_seqlens [[buffer(1)]],
                 device const int* skip [[buffer(2)]], device float* out [[buffer(3)]],
                 constant PoolParams& params [[buffer(4)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 size [[threads_per_threadgroup]],
                 uint tid [[thread_index_in_threadgroup]]) {
  const uint column = group.y * size.x + tid;
  if (column >= params.hidden_size) return;
  const uint skipped = params.has_skip != 0 ? uint(skip[group.x]) : 0;
  const uint begin = uint(cu_seqlens[group.x]);
  const uint end = uint(cu_seqlens[group.x + 1]);
  out[group.x * params.out_stride + column] = pool_column(x, params, begin, end, skipped, column);
}

// out[row] = index of the row's largest value, the first one of equals. A threadgroup per row.
kernel void argmax(device const float* x [[buffer(0)]], device int* out [[buffer(1)]],
                   constant RowParams& params [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_position_in_threadgroup]],
                   uint num_threads [[threads_per_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]],
                   uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float tops[32];
  threadgroup uint places[32];
  // Threads beyond the row know its first value.
  float top = x[row * params.stride];
  uint place = 0;
  for (uint i = tid; i < params.size; i += num_threads) {
    const float value = x[row * params.stride + i];
    if (value > top) {
      top = value;
      place = i;
    }
  }
  const float group_top = simd_max(top);
  const uint group_place = simd_min(top == group_top ? place : params.size);
  if (lane == 0) {
    tops[sg] = group_top;
    places[sg] = group_place;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    uint best = 0;
    for (uint i = 1; i < num_sg; ++i) {
      const bool is_first = tops[i] == tops[best] && places[i] < places[best];
      if (tops[i] > tops[best] || is_first) best = i;
    }
    out[row] = int(places[best]);
  }
}
