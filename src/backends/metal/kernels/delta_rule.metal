// The gated delta rule token by token (Yang et al. 2024, arXiv:2412.06464). A threadgroup per
// sequence and value head, a thread per column of the head's matrix S [key_head_dim, value_stride].
//
// What a call leaves behind: S at the start of the current chunk of 64 tokens, and the chunk's
// tokens so far, from which the next call brings S up to date. `pending` counts them. The kernels
// round alike, so that any split of a sequence into calls gives the same bits.

constexpr constant uint kDeltaChunk = 64;
constexpr constant uint kDeltaMaxKeyDim = 256;

inline float softplus(float x) {
  const float e = precise::exp(-fabs(x));
  const float u = 1.0f + e;
  // log(1 + e), exact to the last places also where 1 + e loses digits of e.
  const float log_part = u == 1.0f ? e : precise::log(u) * e / (u - 1.0f);
  return (x > 0.0f ? x : 0.0f) + log_part;
}

// work = S after the pending tokens. Before, since all value heads of a key head read its keys, and
// one of them overwrites them.
kernel void delta_rule_replay(device const float* matrix [[buffer(0)]],
                              device const float* keys [[buffer(1)]],
                              device const float* deltas [[buffer(2)]],
                              device const float* decays [[buffer(3)]],
                              device const int* pending [[buffer(4)]],
                              device float* work [[buffer(5)]],
                              constant DeltaRuleParams& params [[buffer(6)]],
                              uint2 group [[threadgroup_position_in_grid]],
                              uint2 size [[threads_per_threadgroup]],
                              uint tid [[thread_index_in_threadgroup]]) {
  const uint head = group.x * params.num_value_heads + group.y;
  const uint key_head =
      group.x * params.num_key_heads + group.y / (params.num_value_heads / params.num_key_heads);
  const uint count = uint(pending[group.x]);
  for (uint d = 0; d < params.key_head_dim; ++d) {
    device const float* key = keys + (key_head * params.key_head_dim + d) * kDeltaChunk;
    for (uint c = tid; c < params.value_head_dim; c += size.x) {
      const uint place = (head * params.key_head_dim + d) * params.value_stride + c;
      float value = matrix[place];
      float before = 0.0f;
      for (uint j = 0; j < count; ++j) {
        const float decay = decays[head * kDeltaChunk + j];
        const float delta = deltas[(head * kDeltaChunk + j) * params.value_stride + c];
        value = fma(key[j], delta, value * precise::exp(decay - before));
        before = decay;
      }
      work[place] = value;
    }
  }
}

// The inverse norm of a head's vector, which goes to `to` as it is.
inline float load_vector(threadgroup float* to, device const float* from, uint size,
                         threadgroup float* scratch, thread const Team& team) {
  float sum = 0.0f;
  for (uint d = team.tid; d < size; d += team.num_threads) {
    to[d] = from[d];
    sum += from[d] * from[d];
  }
  return 1.0f / precise::sqrt(threadgroup_sum(sum, scratch, team) + 1.0e-6f);
}

// One column of S takes a token: S <- decay S; delta = beta (v - S^T k); S <- S + k delta^T. Gives
// (delta, S^T q).
inline float2 step_column(device float* column, constant DeltaRuleParams& params,
                          threadgroup const float* key, threadgroup const float* query,
                          float2 scales, float3 decay_beta_value) {
  float seen = 0.0f;
  for (uint d = 0; d < params.key_head_dim; ++d) {
    const float value = column[d * params.value_stride] * decay_beta_value.x;
    column[d * params.value_stride] = value;
    seen += value * (key[d] * scales.x);
  }
  const float delta = decay_beta_value.y * (decay_beta_value.z - seen);
  float result = 0.0f;
  for (uint d = 0; d < params.key_head_dim; ++d) {
    const float value = fma(key[d] * scales.x, delta, column[d * params.value_stride]);
    column[d * params.value_stride] = value;
    result += value * (query[d] * scales.y);
  }
  return float2(delta, result);
}

// style: allow(function-lines) a third of them are bindings
kernel void delta_rule_steps(device const float* q [[buffer(0)]],
                             device const float* k [[buffer(1)]],
                             device const float* v [[buffer(2)]],
                             device const float* a [[buffer(3)]],
                             device const float* b [[buffer(4)]],
                             device const float* a_log [[buffer(5)]],
                             device const float* dt_bias [[buffer(6)]],
                             device const int* cu_seqlens [[buffer(7)]],
                             device const int* pending [[buffer(8)]],
                             device float* matrix [[buffer(9)]],
                             device float* work [[buffer(10)]],
                             device float* keys [[buffer(11)]],
                             device float* deltas [[buffer(12)]],
                             device float* decays [[buffer(13)]],
                             device float* out [[buffer(14)]],
                             constant DeltaRuleParams& params [[buffer(15)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint2 size [[threads_per_threadgroup]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
                             uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float key[kDeltaMaxKeyDim];
  threadgroup float query[kDeltaMaxKeyDim];
  threadgroup float scratch[32];
  const Team team = {tid, size.x, lane, sg, num_sg};
  const uint heads_per_key = params.num_value_heads / params.num_key_heads;
  const uint head = group.x * params.num_value_heads + group.y;
  const uint key_head = group.x * params.num_key_heads + group.y / heads_per_key;
  const uint key_column = group.y / heads_per_key * params.key_head_dim;
  const uint value_column = group.y * params.value_head_dim;
  const uint matrix_size = params.key_head_dim * params.value_stride;
  const float rate = -precise::exp(a_log[group.y]);
  const float query_scale = 1.0f / precise::sqrt(float(params.key_head_dim));
  uint index = uint(pending[group.x]);  // of the token in its chunk
  float decay_sum = index > 0 ? decays[head * kDeltaChunk + index - 1] : 0.0f;
  for (uint row = uint(cu_seqlens[group.x]); row < uint(cu_seqlens[group.x + 1]); ++row) {
    if (index == kDeltaChunk) index = 0;
    const bool begins_chunk = index == 0;
    const float before = begins_chunk ? 0.0f : decay_sum;
    const uint gate = row * params.num_value_heads + group.y;
    decay_sum = before + rate * softplus(a[gate] + dt_bias[group.y]);
    const float decay = precise::exp(decay_sum - before);
    const float beta = sigmoid(b[gate]);
    // Other threads may still read the token before.
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    const uint from = row * params.num_key_heads * params.key_head_dim + key_column;
    const float key_norm = load_vector(key, k + from, params.key_head_dim, scratch, team);
    const float query_norm = load_vector(query, q + from, params.key_head_dim, scratch, team);
    const float2 scales = float2(key_norm, query_norm * query_scale);
    for (uint c = tid; c < params.value_head_dim; c += size.x) {
      device float* column = work + head * matrix_size + c;
      for (uint d = 0; d < params.key_head_dim && begins_chunk; ++d) {
        matrix[head * matrix_size + d * params.value_stride + c] = column[d * params.value_stride];
      }
      const uint place = row * params.num_value_heads * params.value_head_dim + value_column + c;
      const float3 token = float3(decay, beta, v[place]);
      const float2 result = step_column(column, params, key, query, scales, token);
      deltas[(head * kDeltaChunk + index) * params.value_stride + c] = result.x;
      out[place] = result.y;
    }
    if (group.y % heads_per_key == 0) {
      for (uint d = tid; d < params.key_head_dim; d += size.x) {
        keys[(key_head * params.key_head_dim + d) * kDeltaChunk + index] = key[d] * key_norm;
      }
    }
    if (tid == 0) decays[head * kDeltaChunk + index] = decay_sum;
    ++index;
  }
}
