// Elementwise functions. Grid: rows, blocks of columns.

// In place: x = activation(x [+ bias]).
kernel void bias_activation(device float* x [[buffer(0)]], device const float* bias [[buffer(1)]],
                            constant ActivationParams& params [[buffer(2)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint2 size [[threads_per_threadgroup]],
                            uint tid [[thread_index_in_threadgroup]]) {
  const uint column = group.y * size.x + tid;
  if (column >= params.num_columns) return;
  device float* value = x + group.x * params.stride + column;
  const float shift = params.has_bias != 0 ? bias[column] : 0.0f;
  *value = apply_activation(params.activation, *value + shift);
}

// out = activation(gate) * up. out may be gate.
kernel void gated_activation(device const float* gate [[buffer(0)]],
                             device const float* up [[buffer(1)]], device float* out [[buffer(2)]],
                             constant GatedActivationParams& params [[buffer(3)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint2 size [[threads_per_threadgroup]],
                             uint tid [[thread_index_in_threadgroup]]) {
  const uint column = group.y * size.x + tid;
  if (column >= params.num_columns) return;
  const float opening =
      apply_activation(params.activation, gate[group.x * params.gate_stride + column]);
  out[group.x * params.out_stride + column] = opening * up[group.x * params.up_stride + column];
}

// out[t][c] = activation(sum_i weight[i][c] x[t - (kernel_size - 1) + i][c]) within each sequence;
// what lies before its first token is its history, [num_seqs, kernel_size - 1, channels], or zero.
kernel void causal_conv1d(device const float* x [[buffer(0)]],
                          device const float* weight [[buffer(1)]],
                          device const float* history [[buffer(2)]],
                          device const int* cu_seqlens [[buffer(3)]],
                          device float* out [[buffer(4)]], constant ConvParams& params [[buffer(5)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint2 size [[threads_per_threadgroup]],
                          uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = group.y * size.x + tid;
  if (channel >= params.channels) return;
  const uint seq = sequence_of(cu_seqlens, params.num_seqs, group.x);
  const uint before = params.kernel_size - 1;
  const uint token = group.x - uint(cu_seqlens[seq]);
  float sum = 0.0f;
  for (uint i = 0; i < params.kernel_size; ++i) {
    float value = 0.0f;
    if (token + i >= before) {
      value = x[(group.x + i - before) * params.x_stride + channel];
    } else if (params.has_history != 0) {
      value = history[(seq * before + token + i) * params.channels + channel];
    }
    sum += weight[i * params.channels + channel] * value;
  }
  out[group.x * params.out_stride + channel] = apply_activation(params.activation, sum);
}
