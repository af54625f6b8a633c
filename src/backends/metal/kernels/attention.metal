// Attention inside each sequence of a packed batch, with the softmax kept up to date block by block
// of 32 keys (Milakov & Gimelshein 2018), its state in registers. Grid: queries, KV heads. A SIMD
// group per query head of the KV head's group, so that the group's heads read the same keys together.

// Below every score: a mask that needs no infinity, which fast math may assume away.
constexpr constant float kLowest = -3.0e38f;
constexpr constant uint kFaHeadDim = __FA_HEAD_DIM__;
constexpr constant uint kFaGroups = __FA_GQA_GROUPS__;
// Values of an output row that a lane holds: i, i + 32, ...
constexpr constant uint kFaPerLane = (kFaHeadDim + 31) / 32;

inline float score_of(threadgroup const float* query, device const float* key) {
  float4 sum = float4(0.0f);
  for (uint i = 0; i < kFaHeadDim / 4; ++i) {
    const float4 a = float4(query[4 * i], query[4 * i + 1], query[4 * i + 2], query[4 * i + 3]);
    sum += a * float4(((device const packed_float4*)key)[i]);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

// [begin, end) of the keys, counted from the sequence's first, that its query `index` sees.
inline uint2 visible_keys(constant AttentionParams& params, uint index, uint num_queries,
                          uint num_keys) {
  const uint end = params.causal != 0 ? num_keys - num_queries + index + 1 : num_keys;
  const uint begin = params.window != 0 && end > params.window ? end - params.window : 0;
  return uint2(begin, end);
}

[[max_total_threads_per_threadgroup(32 * __FA_GQA_GROUPS__)]]
kernel void attention(device const float* q [[buffer(0)]], device const float* k [[buffer(1)]],
                      device const float* v [[buffer(2)]], device float* out [[buffer(3)]],
                      device const int* cu_queries [[buffer(4)]],
                      device const int* cu_keys [[buffer(5)]],
                      constant AttentionParams& params [[buffer(6)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float queries[kFaGroups * kFaHeadDim];
  threadgroup float weights[kFaGroups * 32];
  threadgroup float* query = queries + sg * kFaHeadDim;
  threadgroup float* weight = weights + sg * 32;
  const uint row = group.x;
  const uint column = (group.y * kFaGroups + sg) * kFaHeadDim;
  for (uint i = lane; i < kFaHeadDim; i += 32) {
    query[i] = q[row * params.q_stride + column + i] * params.scale;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  const uint seq = sequence_of(cu_queries, params.num_seqs, row);
  const uint first_key = uint(cu_keys[seq]);
  const uint2 keys = visible_keys(params, row - uint(cu_queries[seq]),
                                  uint(cu_queries[seq + 1] - cu_queries[seq]),
                                  uint(cu_keys[seq + 1] - cu_keys[seq]));
  float top = kLowest;  // largest score so far
  float total = 0.0f;   // of exp(score - top)
  float sums[kFaPerLane];
  for (uint e = 0; e < kFaPerLane; ++e) sums[e] = 0.0f;
  for (uint base = keys.x; base < keys.y; base += 32) {
    const bool is_visible = base + lane < keys.y;
    float score = kLowest;
    if (is_visible) {
      score = score_of(query, k + (first_key + base + lane) * params.k_stride +
                                  group.y * kFaHeadDim);
    }
    const float new_top = max(top, simd_max(score));
    const float own = is_visible ? precise::exp(score - new_top) : 0.0f;
    const float fade = precise::exp(top - new_top);
    total = total * fade + simd_sum(own);
    top = new_top;
    weight[lane] = own;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint count = min(keys.y - base, 32u);
    device const float* values = v + (first_key + base) * params.v_stride + group.y * kFaHeadDim;
    for (uint e = 0; e < kFaPerLane; ++e) {
      const uint i = lane + 32 * e;
      float sum = sums[e] * fade;
      for (uint j = 0; j < count && i < kFaHeadDim; ++j) {
        sum += weight[j] * values[j * params.v_stride + i];
      }
      sums[e] = sum;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);  // before the weights of the next block
  }
  for (uint e = 0; e < kFaPerLane; ++e) {
    const uint i = lane + 32 * e;
    if (i < kFaHeadDim) out[row * params.out_stride + column + i] = sums[e] / total;
  }
}
