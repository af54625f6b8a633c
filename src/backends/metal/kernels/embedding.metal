// out[t] (+)= table[ids[t]]. A threadgroup per token.

template <typename T>
inline void gather_row(device const T* row, device float* out, constant EmbeddingParams& params,
                       uint tid, uint num_threads) {
  for (uint i = tid; i < params.hidden_size; i += num_threads) {
    const float value = float(row[i]);
    out[i] = params.accumulate != 0 ? out[i] + value : value;
  }
}

kernel void embedding_f32(device const float* table [[buffer(0)]],
                          device const int* ids [[buffer(1)]], device float* out [[buffer(2)]],
                          constant EmbeddingParams& params [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint tid [[thread_position_in_threadgroup]],
                          uint num_threads [[threads_per_threadgroup]]) {
  gather_row(table + ulong(ids[token]) * params.hidden_size, out + token * params.out_stride,
             params, tid, num_threads);
}

kernel void embedding_f16(device const half* table [[buffer(0)]],
                          device const int* ids [[buffer(1)]], device float* out [[buffer(2)]],
                          constant EmbeddingParams& params [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint tid [[thread_position_in_threadgroup]],
                          uint num_threads [[threads_per_threadgroup]]) {
  gather_row(table + ulong(ids[token]) * params.hidden_size, out + token * params.out_stride,
             params, tid, num_threads);
}

kernel void embedding_bf16(device const bfloat* table [[buffer(0)]],
                           device const int* ids [[buffer(1)]], device float* out [[buffer(2)]],
                           constant EmbeddingParams& params [[buffer(3)]],
                           uint token [[threadgroup_position_in_grid]],
                           uint tid [[thread_position_in_threadgroup]],
                           uint num_threads [[threads_per_threadgroup]]) {
  gather_row(table + ulong(ids[token]) * params.hidden_size, out + token * params.out_stride,
             params, tid, num_threads);
}
