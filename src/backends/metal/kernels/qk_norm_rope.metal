// RMSNorm over each head of q and k, then rotation of its first dimensions, in one pass over memory.
// Grid: tokens, heads of q followed by heads of k. Threads: __FUSED_C_THREADS__, so that each has
// one of the pairs (i, i + rotary_half) and the values beside them.

constexpr constant uint kFusedHeadDim = __FUSED_C_HEAD_DIM__;
constexpr constant uint kFusedHalfDim = __FUSED_C_HALF_DIM__;
constexpr constant uint kFusedThreads = __FUSED_C_THREADS__;

[[max_total_threads_per_threadgroup(__FUSED_C_THREADS__)]]
kernel void qk_norm_rope(device float* q [[buffer(0)]], device float* k [[buffer(1)]],
                         device const float* q_weight [[buffer(2)]],
                         device const float* k_weight [[buffer(3)]],
                         device const int* positions [[buffer(4)]],
                         device const float* cosines [[buffer(5)]],
                         device const float* sines [[buffer(6)]],
                         constant QkNormRopeParams& params [[buffer(7)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float normalized[kFusedHeadDim];
  threadgroup float scratch[32];
  const Team team = {tid, kFusedThreads, lane, sg, num_sg};
  const bool is_q = group.y < params.num_heads;
  const uint column = (is_q ? group.y : group.y - params.num_heads) * kFusedHeadDim;
  device float* head = is_q ? q + group.x * params.q_stride + column
                            : k + group.x * params.k_stride + column;
  device const float* weight = is_q ? q_weight : k_weight;
  const bool has_weight = (is_q ? params.has_q_weight : params.has_k_weight) != 0;
  // A thread's own two values.
  const uint second = tid + kFusedHalfDim;
  const float a = tid < kFusedHalfDim ? head[tid] : 0.0f;
  const float b = tid < kFusedHalfDim ? head[second] : 0.0f;
  const float sum = threadgroup_sum(a * a + b * b, scratch, team);
  const float scale = 1.0f / precise::sqrt(sum / float(kFusedHeadDim) + params.eps);
  if (tid < kFusedHalfDim) {
    normalized[tid] = has_weight ? a * scale * (params.weight_offset + weight[tid]) : a;
    normalized[second] = has_weight ? b * scale * (params.weight_offset + weight[second]) : b;
  }
  // Device memory too: other threads overwrite in it what this one has read.
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  const uint row = uint(positions[group.x]) * params.table_stride;
  for (uint i = tid; i < params.rotary_half; i += kFusedThreads) {
    const float first = normalized[i];
    const float other = normalized[i + params.rotary_half];
    head[i] = first * cosines[row + i] - other * sines[row + i];
    head[i + params.rotary_half] = other * cosines[row + i] + first * sines[row + i];
  }
  for (uint i = 2 * params.rotary_half + tid; i < kFusedHeadDim; i += kFusedThreads) {
    head[i] = normalized[i];
  }
}
