// Normalisation of rows. A threadgroup per row; out may be x or the residual.

inline float sum_of_squares(device const float* x, uint size, threadgroup float* scratch,
                            thread const Team& team) {
  float sum = 0.0f;
  for (uint i = team.tid; i < size; i += team.num_threads) sum += x[i] * x[i];
  return threadgroup_sum(sum, scratch, team);
}

inline float inverse_rms(device const float* x, uint size, float eps, threadgroup float* scratch,
                         thread const Team& team) {
  return 1.0f / precise::sqrt(sum_of_squares(x, size, scratch, team) / float(size) + eps);
}

kernel void rms_norm(device const float* x [[buffer(0)]], device const float* weight [[buffer(1)]],
                     device float* out [[buffer(2)]], constant NormParams& params [[buffer(3)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint tid [[thread_position_in_threadgroup]],
                     uint num_threads [[threads_per_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const Team team = {tid, num_threads, lane, sg, num_sg};
  device const float* in = x + row * params.x_stride;
  const float scale = inverse_rms(in, params.size, params.eps, scratch, team);
  for (uint i = tid; i < params.size; i += num_threads) {
    out[row * params.out_stride + i] = in[i] * scale * (params.weight_offset + weight[i]);
  }
}

// sum = x + residual, which the next layer adds to; out = rms_norm(sum). sum may be x or residual.
kernel void rms_norm_residual(device const float* x [[buffer(0)]],
                              device const float* residual [[buffer(1)]],
                              device const float* weight [[buffer(2)]],
                              device float* sum [[buffer(3)]], device float* out [[buffer(4)]],
                              constant NormParams& params [[buffer(5)]],
                              uint row [[threadgroup_position_in_grid]],
                              uint tid [[thread_position_in_threadgroup]],
                              uint num_threads [[threads_per_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]],
                              uint sg [[simdgroup_index_in_threadgroup]],
                              uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const Team team = {tid, num_threads, lane, sg, num_sg};
  device float* total = sum + row * params.sum_stride;
  for (uint i = tid; i < params.size; i += num_threads) {
    total[i] = x[row * params.x_stride + i] + residual[row * params.residual_stride + i];
  }
  // Each thread reads back only what it wrote itself.
  const float scale = inverse_rms(total, params.size, params.eps, scratch, team);
  for (uint i = tid; i < params.size; i += num_threads) {
    out[row * params.out_stride + i] = total[i] * scale * (params.weight_offset + weight[i]);
  }
}

// out = (y - mean) / sqrt(variance + eps) * weight [+ bias] with y = x [+ residual].
kernel void layer_norm(device const float* x [[buffer(0)]],
                       device const float* residual [[buffer(1)]],
                       device const float* weight [[buffer(2)]],
                       device const float* bias [[buffer(3)]], device float* out [[buffer(4)]],
                       constant NormParams& params [[buffer(5)]],
                       uint row [[threadgroup_position_in_grid]],
                       uint tid [[thread_position_in_threadgroup]],
                       uint num_threads [[threads_per_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const Team team = {tid, num_threads, lane, sg, num_sg};
  device const float* in = x + row * params.x_stride;
  device const float* added = residual + row * params.residual_stride;
  const bool has_residual = params.has_residual != 0;
  float sum = 0.0f;
  for (uint i = tid; i < params.size; i += num_threads) {
    sum += has_residual ? in[i] + added[i] : in[i];
  }
  const float mean = threadgroup_sum(sum, scratch, team) / float(params.size);
  float squares = 0.0f;
  for (uint i = tid; i < params.size; i += num_threads) {
    const float y = (has_residual ? in[i] + added[i] : in[i]) - mean;
    squares += y * y;
  }
  squares = threadgroup_sum(squares, scratch, team);
  const float scale = 1.0f / precise::sqrt(squares / float(params.size) + params.eps);
  for (uint i = tid; i < params.size; i += num_threads) {
    const float y = (has_residual ? in[i] + added[i] : in[i]) - mean;
    const float shift = params.has_bias != 0 ? bias[i] : 0.0f;
    out[row * params.out_stride + i] = y * scale * weight[i] + shift;
  }
}

// Per head: out = rms_norm(x) * weight * activation(gate). Grid: tokens, heads.
kernel void gated_rms_norm(device const float* x [[buffer(0)]],
                           device const float* gate [[buffer(1)]],
                           device const float* weight [[buffer(2)]],
                           device float* out [[buffer(3)]],
                           constant GatedNormParams& params [[buffer(4)]],
                           uint2 group [[threadgroup_position_in_grid]],
                           uint2 size [[threads_per_threadgroup]],
                           uint tid [[thread_index_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const Team team = {tid, size.x, lane, sg, num_sg};
  const uint column = group.y * params.head_dim;
  device const float* in = x + group.x * params.x_stride + column;
  device const float* opening = gate + group.x * params.gate_stride + column;
  const float scale = inverse_rms(in, params.head_dim, params.eps, scratch, team);
  for (uint i = tid; i < params.head_dim; i += size.x) {
    out[group.x * params.out_stride + column + i] =
        in[i] * scale * weight[i] * apply_activation(params.activation, opening[i]);
  }
}

// In place: x /= max(|x|, eps) per row.
kernel void l2_normalize(device float* x [[buffer(0)]], constant RowParams& params [[buffer(1)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint tid [[thread_position_in_threadgroup]],
                         uint num_threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint num_sg [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const Team team = {tid, num_threads, lane, sg, num_sg};
  device float* values = x + row * params.stride;
  const float squares = sum_of_squares(values, params.size, scratch, team);
  const float root = precise::sqrt(squares);
  const float norm = root < params.eps ? params.eps : root;  // a NaN stays
  for (uint i = tid; i < params.size; i += num_threads) values[i] /= norm;
}
