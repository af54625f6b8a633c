// out[t] (+)= table[ids[t]] from a table as it is stored. A threadgroup per token.

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

// Blocks of 32 values as files store them: 34 bytes, an f16 scale before the signed quants.
kernel void embedding_q8_0(device const uchar* table [[buffer(0)]],
                           device const int* ids [[buffer(1)]], device float* out [[buffer(2)]],
                           constant EmbeddingParams& params [[buffer(3)]],
                           uint token [[threadgroup_position_in_grid]],
                           uint tid [[thread_position_in_threadgroup]],
                           uint num_threads [[threads_per_threadgroup]]) {
  const uint num_blocks = (params.hidden_size + 31) / 32;
  device const uchar* row = table + ulong(ids[token]) * num_blocks * 34;
  device float* to = out + token * params.out_stride;
  for (uint i = tid; i < params.hidden_size; i += num_threads) {
    device const uchar* block = row + i / 32 * 34;
    const float scale = float(*(device const half*)block);
    const float value = scale * float(*(device const int8_t*)(block + 2 + i % 32));
    to[i] = params.accumulate != 0 ? to[i] + value : value;
  }
}
