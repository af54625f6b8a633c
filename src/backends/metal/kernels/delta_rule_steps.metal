// The gated delta rule token by token: for few tokens a call. No thread waits for another but where a
// chunk ends.

// Token i of a chunk, for one column.
inline void step_token(thread const DeltaView& view, device const float* column,
                       constant DeltaRuleParams& params, uint i) {
  device const float* key = view.keys + i * view.key_stride;
  device const float* query = view.queries + i * view.key_stride;
  float key_sum = 0.0f;
  float query_sum = 0.0f;
  for (uint d = 0; d < params.key_head_dim; ++d) {
    const float value = column[d * params.value_stride];
    key_sum = fma(value, key[d], key_sum);
    query_sum = fma(value, query[d], query_sum);
  }
  const float2 gate = view.gates[i * view.gate_stride];
  key_sum *= gate.x;
  query_sum *= gate.x;
  for (uint j = 0; j < i; ++j) {
    const float delta = view.deltas[j * view.delta_stride];
    key_sum = fma(view.scores[j * kDeltaChunk + i], delta, key_sum);
    query_sum = fma(view.scores[i * kDeltaChunk + j], delta, query_sum);
  }
  const uint token = i - view.num_old;
  const float delta = gate.y * (view.values[token * view.value_stride] - key_sum);
  view.deltas[i * view.delta_stride] = delta;
  view.out[token * view.value_stride] =
      fma(view.scores[i * kDeltaChunk + i], delta, query_sum);
}

// Grid: sequences, value heads, blocks of columns; a thread per column.
kernel void delta_rule_steps(device const float* queries [[buffer(0)]],
                             device const float* keys [[buffer(1)]],
                             device const float* v [[buffer(2)]],
                             device const float2* gates [[buffer(3)]],
                             device const long* decays [[buffer(4)]],
                             device const float* scores [[buffer(5)]],
                             device const DeltaRuleChunk* chunks [[buffer(6)]],
                             device const int* first_chunks [[buffer(7)]],
                             device float* matrix [[buffer(8)]],
                             device float* deltas [[buffer(9)]],
                             device float* out [[buffer(10)]],
                             constant DeltaRuleParams& params [[buffer(11)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             uint3 size [[threads_per_threadgroup]],
                             uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float fading[kDeltaChunk];
  const DeltaBuffers buffers = {queries, keys, v, gates, decays, scores, matrix, deltas, out};
  const uint c = group.z * size.x + tid;
  const bool is_inside = c < params.value_head_dim;
  const uint head = group.x * params.num_value_heads + group.y;
  device float* column = matrix + head * params.key_head_dim * params.value_stride + c;
  const uint end = uint(first_chunks[group.x + 1]);
  for (uint chunk = uint(first_chunks[group.x]); chunk < end; ++chunk) {
    DeltaView view;
    open_view(view, buffers, params, chunks, chunk, uint2(group.y, c));
    for (uint i = view.num_old; i < view.num_rows && is_inside; ++i) {
      step_token(view, column, params, i);
    }
    if (chunk + 1 == end) continue;  // a full chunk is kept as tokens until the next one comes
    for (uint j = tid; j < kDeltaChunk; j += size.x) fading[j] = fade_to_end(view, j);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint d = 0; d < params.key_head_dim && is_inside; d += kDeltaTile) {
      fold_rows(view, column, params, fading, d);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // before the next chunk's
  }
}
