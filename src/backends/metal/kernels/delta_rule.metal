// The gated delta rule by chunks of 64 tokens (Yang et al. 2024, arXiv:2406.06484), on the grid that
// starts at a sequence's first token. With G the decays' sum since the chunk's start and S the matrix
// at its start, token i of a chunk is
//   u_i = beta_i (v_i - exp(G_i) S^T k_i - sum_{j < i} exp(G_i - G_j) (k_i . k_j) u_j)
//   o_i = exp(G_i) S^T q_i + sum_{j <= i} exp(G_i - G_j) (q_i . k_j) u_j
// and a whole chunk turns S into exp(G) S + sum_j exp(G - G_j) k_j u_j^T.
//
// Three kernels: delta_rule_normalize and delta_rule_scores compute all that does not depend on S;
// then delta_rule_steps (token by token, for short calls) or delta_rule_chunks (in tiles of tokens)
// goes through a sequence. Both add up the same products in the same order, each with one rounding
// (fma), so neither the choice nor any split of a sequence into calls changes a bit.
//
// What earlier calls left in the current chunk are its first `num_old` rows, so that everything is
// found by row: keys, queries [rows, key heads, key_head_dim], decays, gates [rows, value heads],
// deltas [rows, value heads, value_stride], scores [chunks, value heads, 64, 64].

constexpr constant uint kDeltaChunk = 64;
constexpr constant uint kDeltaTile = 8;  // tokens that are taken together

// Sums of decays are integers: exact whatever their order, and so are their differences, which f32
// sums would round where a head forgets fast. A unit is 2^-36. Beyond the limit S is gone anyway.
constexpr constant float kDecayUnits = 68719476736.0f;
constexpr constant float kDecayUnit = 1.45519152e-11f;
constexpr constant float kMostDecay = -1000.0f;

inline float faded(long difference) { return precise::exp(float(difference) * kDecayUnit); }

inline float softplus(float x) {
  const float e = precise::exp(-fabs(x));
  const float u = 1.0f + e;
  // log(1 + e), exact to the last places also where 1 + e loses digits of e.
  const float log_part = u == 1.0f ? e : precise::log(u) * e / (u - 1.0f);
  return (x > 0.0f ? x : 0.0f) + log_part;
}

// to = from * factor / |from|, by a SIMD group.
inline void normalize_row(device const float* from, device float* to, uint size, float factor,
                          uint lane) {
  float sum = 0.0f;
  for (uint d = lane; d < size; d += 32) sum += from[d] * from[d];
  const float scale = factor / precise::sqrt(simd_sum(sum) + 1.0e-6f);
  for (uint d = lane; d < size; d += 32) to[d] = from[d] * scale;
}

// New tokens' keys and queries. Grid: chunks, key heads; a SIMD group per token.
kernel void delta_rule_normalize(device const float* q [[buffer(0)]],
                                 device const float* k [[buffer(1)]],
                                 device const DeltaRuleChunk* chunks [[buffer(2)]],
                                 device float* queries [[buffer(3)]],
                                 device float* keys [[buffer(4)]],
                                 constant DeltaRuleParams& params [[buffer(5)]],
                                 uint2 group [[threadgroup_position_in_grid]],
                                 uint lane [[thread_index_in_simdgroup]],
                                 uint sg [[simdgroup_index_in_threadgroup]],
                                 uint num_sg [[simdgroups_per_threadgroup]]) {
  const uint num_old = chunks[group.x].num_old;
  const uint num_rows = chunks[group.x].num_rows;
  const uint size = params.key_head_dim;
  const float query_factor = 1.0f / precise::sqrt(float(size));
  for (uint i = num_old + sg; i < num_rows; i += num_sg) {
    const uint token = chunks[group.x].first_token + i - num_old;
    const uint from = (token * params.num_key_heads + group.y) * size;
    const uint to = ((chunks[group.x].first_row + i) * params.num_key_heads + group.y) * size;
    normalize_row(q + from, queries + to, size, query_factor, lane);
    normalize_row(k + from, keys + to, size, 1.0f, lane);
  }
}

inline float dot_product(device const float* a, device const float* b, uint size) {
  float sum = 0.0f;
  for (uint d = 0; d < size; ++d) sum = fma(a[d], b[d], sum);
  return sum;
}

// Decays, gates (exp(G), beta) and scores of new tokens: exp(G_i - G_j) q_i . k_j at [i][j] and
// exp(G_i - G_j) k_i . k_j at [j][i], which j < i leaves free. Grid: chunks, value heads. Threads: 128.
kernel void delta_rule_scores(device const float* a [[buffer(0)]],
                              device const float* b [[buffer(1)]],
                              device const float* a_log [[buffer(2)]],
                              device const float* dt_bias [[buffer(3)]],
                              device const DeltaRuleChunk* chunks [[buffer(4)]],
                              device const float* queries [[buffer(5)]],
                              device const float* keys [[buffer(6)]],
                              device long* decays [[buffer(7)]],
                              device float2* gates [[buffer(8)]],
                              device float* scores [[buffer(9)]],
                              constant DeltaRuleParams& params [[buffer(10)]],
                              uint2 group [[threadgroup_position_in_grid]],
                              uint tid [[thread_index_in_threadgroup]]) {
  threadgroup long steps[kDeltaChunk];
  threadgroup long sums[kDeltaChunk];
  const uint first_row = chunks[group.x].first_row;
  const uint num_old = chunks[group.x].num_old;
  const uint num_rows = chunks[group.x].num_rows;
  const uint place = (first_row + tid) * params.num_value_heads + group.y;
  float beta = 0.0f;
  if (tid < num_rows && tid >= num_old) {
    const uint gate =
        (chunks[group.x].first_token + tid - num_old) * params.num_value_heads + group.y;
    const float decay = -precise::exp(a_log[group.y]) * softplus(a[gate] + dt_bias[group.y]);
    const float limited = decay < kMostDecay ? kMostDecay : decay;
    steps[tid] = long(rint((limited == limited ? limited : 0.0f) * kDecayUnits));
    beta = sigmoid(b[gate]) + (limited - limited);  // an integer holds no NaN: beta passes it on
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid < num_rows) {
    // An old token's decay is its sum already.
    const uint last_old = first_row + min(tid, num_old - 1);
    long sum = num_old > 0 ? decays[last_old * params.num_value_heads + group.y] : 0;
    for (uint j = num_old; j <= tid; ++j) sum += steps[j];
    sums[tid] = sum;
    if (tid >= num_old) {
      decays[place] = sum;
      gates[place] = float2(faded(sum), beta);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint key_head = group.y / (params.num_value_heads / params.num_key_heads);
  const uint stride = params.num_key_heads * params.key_head_dim;
  const uint origin = first_row * stride + key_head * params.key_head_dim;
  device float* cells = scores + (group.x * params.num_value_heads + group.y) * 4096;
  const bool is_query = tid < kDeltaChunk;
  const uint j = tid % kDeltaChunk;
  for (uint i = num_old; i < num_rows; ++i) {
    if (j > i || (j == i && !is_query)) continue;
    device const float* left = (is_query ? queries : keys) + origin + i * stride;
    const float score = dot_product(left, keys + origin + j * stride, params.key_head_dim);
    cells[is_query ? i * kDeltaChunk + j : j * kDeltaChunk + i] = score * faded(sums[i] - sums[j]);
  }
}

struct DeltaBuffers {
  device const float* queries;
  device const float* keys;
  device const float* v;
  device const float2* gates;
  device const long* decays;
  device const float* scores;
  device float* matrix;
  device float* deltas;
  device float* out;
};

// One chunk of a sequence as one column of a value head sees it: pointers to its first row, or for
// values and out its first new token, and the distances between rows.
struct DeltaView {
  uint num_old;
  uint num_rows;
  uint key_stride;
  uint gate_stride;
  uint delta_stride;
  uint value_stride;
  device const float* queries;
  device const float* keys;
  device const float2* gates;
  device const long* decays;
  device const float* scores;
  device const float* values;
  device float* deltas;
  device float* out;
};

inline void open_view(thread DeltaView& view, thread const DeltaBuffers& buffers,
                      constant DeltaRuleParams& params, device const DeltaRuleChunk* chunks,
                      uint chunk, uint2 head_and_column) {
  const uint head = head_and_column.x;
  const uint first_row = chunks[chunk].first_row;
  const uint key_head = head / (params.num_value_heads / params.num_key_heads);
  const uint key_place = (first_row * params.num_key_heads + key_head) * params.key_head_dim;
  const uint row_place = first_row * params.num_value_heads + head;
  const uint token_place = chunks[chunk].first_token * params.num_value_heads + head;
  const uint column = head_and_column.y;
  view.num_old = chunks[chunk].num_old;
  view.num_rows = chunks[chunk].num_rows;
  view.key_stride = params.num_key_heads * params.key_head_dim;
  view.gate_stride = params.num_value_heads;
  view.delta_stride = params.num_value_heads * params.value_stride;
  view.value_stride = params.num_value_heads * params.value_head_dim;
  view.queries = buffers.queries + key_place;
  view.keys = buffers.keys + key_place;
  view.gates = buffers.gates + row_place;
  view.decays = buffers.decays + row_place;
  view.scores = buffers.scores + (chunk * params.num_value_heads + head) * 4096;
  view.values = buffers.v + token_place * params.value_head_dim + column;
  view.deltas = buffers.deltas + row_place * params.value_stride + column;
  view.out = buffers.out + token_place * params.value_head_dim + column;
}

// What is left of token j at the end of its whole chunk.
inline float fade_to_end(thread const DeltaView& view, uint j) {
  return faded(view.decays[(kDeltaChunk - 1) * view.gate_stride] - view.decays[j * view.gate_stride]);
}

// Rows [first, first + kDeltaTile) of a column of S take a whole chunk.
inline void fold_rows(thread const DeltaView& view, device float* column,
                      constant DeltaRuleParams& params, threadgroup const float* fading,
                      uint first) {
  const uint count = min(params.key_head_dim - first, kDeltaTile);
  const float kept = faded(view.decays[(kDeltaChunk - 1) * view.gate_stride]);
  float sums[kDeltaTile];
  for (uint r = 0; r < kDeltaTile; ++r) {
    sums[r] = r < count ? column[(first + r) * params.value_stride] * kept : 0.0f;
  }
  for (uint j = 0; j < kDeltaChunk; ++j) {
    const float delta = view.deltas[j * view.delta_stride];
    device const float* key = view.keys + j * view.key_stride + first;
    for (uint r = 0; r < kDeltaTile; ++r) {
      if (r < count) sums[r] = fma(key[r] * fading[j], delta, sums[r]);
    }
  }
  for (uint r = 0; r < kDeltaTile; ++r) {
    if (r < count) column[(first + r) * params.value_stride] = sums[r];
  }
}
