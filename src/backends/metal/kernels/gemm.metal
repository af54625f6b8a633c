// What the GEMMs share: out[M, N] = activation(x[M, K] weight[N, K]^T + bias[N]) + residual[M, N] with
// f32 sums. Kernels are named after the number of rows they are made for and the weight's elements,
// which are multiplied as the f32 numbers they stand for. "rounded" ones round x to bfloat as well.

template <typename W>
struct GemmBuffers {
  device const float* x;
  device const W* weight;
  device const float* bias;
  device const float* residual;
  device float* out;
};

// An element as it enters products with elements of type T.
template <typename T>
inline float rounded_to(float value) {
  return float(T(value));
}

template <typename W>
inline void store_result(thread const GemmBuffers<W>& buffers, constant GemmParams& params,
                         float sum, uint row, uint column) {
  if (params.has_bias != 0) sum += buffers.bias[column];
  sum = apply_activation(params.activation, sum);
  if (params.has_residual != 0) sum += buffers.residual[row * params.residual_stride + column];
  buffers.out[row * params.out_stride + column] = sum;
}
