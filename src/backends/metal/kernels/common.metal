// What several kernels share. Values are f32 throughout unless a kernel's name says otherwise.

// Same numbers as the enum Activation of the host.
constexpr constant uint kActivationGelu = 1;
constexpr constant uint kActivationGeluTanh = 2;
constexpr constant uint kActivationRelu = 3;
constexpr constant uint kActivationSilu = 4;
constexpr constant uint kActivationTanh = 5;
constexpr constant uint kActivationSigmoid = 6;

// Metal has no erf. Interpolated at Chebyshev nodes: erf(x) / x in x^2 up to 1, -log(1 - erf(x)) up
// to 4, where 1 - erf is below half a unit in the last place of 1. The error is below 1e-7.
inline float error_function(float x) {
  const float a = fabs(x);
  if (a < 1.0f) {
    const float u = x * x - 0.5f;
    float p = -9.66704429e-06f;
    p = fma(p, u, 7.88249342e-05f);
    p = fma(p, u, -0.000561181254f);
    p = fma(p, u, 0.00348019185f);
    p = fma(p, u, -0.0182838849f);
    p = fma(p, u, 0.0794099909f);
    p = fma(p, u, -0.281072178f);
    p = fma(p, u, 0.965468739f);
    return x * p;
  }
  const float u = min(a, 4.0f) - 2.5f;
  float p = 7.5826821e-08f;
  p = fma(p, u, -1.61558115e-06f);
  p = fma(p, u, 1.29256959e-05f);
  p = fma(p, u, -7.73876036e-05f);
  p = fma(p, u, 0.000420791651f);
  p = fma(p, u, -0.00216516987f);
  p = fma(p, u, 0.0108581129f);
  p = fma(p, u, 0.943893645f);
  p = fma(p, u, 5.35268075f);
  p = fma(p, u, 7.80681528f);
  const float magnitude = 1.0f - precise::exp(-p);
  return x < 0.0f ? -magnitude : magnitude;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + precise::exp(-x)); }

inline float apply_activation(uint activation, float x) {
  switch (activation) {
    case kActivationGelu:
      return fma(0.5f * x, error_function(x * 0.70710678f), 0.5f * x);
    case kActivationGeluTanh:
      return 0.5f * x * (1.0f + precise::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case kActivationRelu:
      return x < 0.0f ? 0.0f : x;
    case kActivationSilu:
      return x * sigmoid(x);
    case kActivationTanh:
      return precise::tanh(x);
    case kActivationSigmoid:
      return sigmoid(x);
    default:
      return x;
  }
}

// A thread's place in a one-dimensional threadgroup.
struct Team {
  uint tid;
  uint num_threads;
  uint lane;    // in the SIMD group
  uint sg;      // SIMD group
  uint num_sg;  // at most 32
};

// The sum over all threads of a threadgroup, in every thread. All of them must call it together;
// scratch has a float per SIMD group.
inline float threadgroup_sum(float value, threadgroup float* scratch,
                             thread const Team& team) {
  value = simd_sum(value);
  threadgroup_barrier(mem_flags::mem_threadgroup);  // an earlier call may still be reading
  if (team.lane == 0) scratch[team.sg] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(team.lane < team.num_sg ? scratch[team.lane] : 0.0f);
}

// The sequence of a packed batch that owns row `row`: offsets [num_seqs + 1] do not decrease.
inline uint sequence_of(device const int* offsets, uint num_seqs, uint row) {
  uint low = 0;
  uint high = num_seqs;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (uint(offsets[middle]) <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
