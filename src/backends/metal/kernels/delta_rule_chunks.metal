// The gated delta rule by chunks: a threadgroup has 32 columns of a value head, one per lane, and
// four SIMD groups share a chunk's eight tiles of eight tokens: tile t belongs to SIMD group t % 4.
// S is read once per tile instead of once per token, and tiles wait for one another only in the
// forward substitution that gives the deltas.

constexpr constant uint kDeltaSimdGroups = 4;
constexpr constant uint kDeltaSlots = 2;  // tiles of a SIMD group

// What the tokens of one tile have added up so far.
struct DeltaTile {
  float key_sums[kDeltaTile];
  float query_sums[kDeltaTile];
};

// exp(G) S^T k and exp(G) S^T q of the tile that begins with token `first`.
inline void multiply_state(thread DeltaTile& tile, thread const DeltaView& view,
                           device const float* column, constant DeltaRuleParams& params,
                           uint first) {
  for (uint r = 0; r < kDeltaTile; ++r) tile.key_sums[r] = tile.query_sums[r] = 0.0f;
  if (first >= view.num_rows || first + kDeltaTile <= view.num_old) return;
  for (uint d = 0; d < params.key_head_dim; ++d) {
    const float value = column[d * params.value_stride];
    for (uint r = 0; r < kDeltaTile; ++r) {
      // Tokens that are not new have a neighbour's numbers, which nobody uses.
      const uint place = clamp(first + r, view.num_old, view.num_rows - 1) * view.key_stride + d;
      tile.key_sums[r] = fma(value, view.keys[place], tile.key_sums[r]);
      tile.query_sums[r] = fma(value, view.queries[place], tile.query_sums[r]);
    }
  }
  for (uint r = 0; r < kDeltaTile; ++r) {
    const uint i = clamp(first + r, view.num_old, view.num_rows - 1);
    tile.key_sums[r] *= view.gates[i * view.gate_stride].x;
    tile.query_sums[r] *= view.gates[i * view.gate_stride].x;
  }
}

inline bool is_new(thread const DeltaView& view, uint i) {
  return i >= view.num_old && i < view.num_rows;
}

// The deltas of the tile's own tokens, one after another.
inline void solve_tile(thread DeltaTile& tile, thread const DeltaView& view, uint first,
                       bool is_inside) {
  for (uint r = 0; r < kDeltaTile; ++r) {
    const uint i = first + r;
    if (i >= view.num_rows) break;
    float delta = 0.0f;
    if (i < view.num_old) {
      delta = view.deltas[i * view.delta_stride];
    } else {
      const float value = view.values[(i - view.num_old) * view.value_stride];
      delta = view.gates[i * view.gate_stride].y * (value - tile.key_sums[r]);
      if (is_inside) view.deltas[i * view.delta_stride] = delta;
    }
    for (uint s = r + 1; s < kDeltaTile; ++s) {
      if (!is_new(view, first + s)) continue;
      tile.key_sums[s] =
          fma(view.scores[i * kDeltaChunk + first + s], delta, tile.key_sums[s]);
    }
  }
}

// The deltas of tokens [from, from + kDeltaTile) enter the tile that begins with token `first`.
inline void add_deltas(thread DeltaTile& tile, thread const DeltaView& view, uint from,
                       uint first) {
  for (uint j = from; j < min(from + kDeltaTile, view.num_rows); ++j) {
    const float delta = view.deltas[j * view.delta_stride];
    for (uint r = 0; r < kDeltaTile; ++r) {
      const uint i = first + r;
      if (!is_new(view, i) || j > i) continue;
      tile.query_sums[r] = fma(view.scores[i * kDeltaChunk + j], delta, tile.query_sums[r]);
      // In its own tile solve_tile() has done the rest.
      if (from == first) continue;
      tile.key_sums[r] = fma(view.scores[j * kDeltaChunk + i], delta, tile.key_sums[r]);
    }
  }
}

inline void store_tile(thread const DeltaTile& tile, thread const DeltaView& view, uint first) {
  for (uint r = 0; r < kDeltaTile; ++r) {
    if (!is_new(view, first + r)) continue;
    view.out[(first + r - view.num_old) * view.value_stride] = tile.query_sums[r];
  }
}

// Grid: sequences, value heads, blocks of 32 columns. Threads: 128.
[[max_total_threads_per_threadgroup(128)]]
kernel void delta_rule_chunks(device const float* queries [[buffer(0)]],
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
                              uint tid [[thread_index_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]],
                              uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float fading[kDeltaChunk];
  const DeltaBuffers buffers = {queries, keys, v, gates, decays, scores, matrix, deltas, out};
  const bool is_inside = group.z * 32 + lane < params.value_head_dim;
  // Lanes beyond the last column read it too, but write nothing.
  const uint c = min(group.z * 32 + lane, params.value_head_dim - 1);
  const uint head = group.x * params.num_value_heads + group.y;
  device float* column = matrix + head * params.key_head_dim * params.value_stride + c;
  const uint end = uint(first_chunks[group.x + 1]);
  for (uint chunk = uint(first_chunks[group.x]); chunk < end; ++chunk) {
    DeltaView view;
    open_view(view, buffers, params, chunks, chunk, uint2(group.y, c));
    DeltaTile tiles[kDeltaSlots];
    for (uint s = 0; s < kDeltaSlots; ++s) {
      multiply_state(tiles[s], view, column, params, (s * kDeltaSimdGroups + sg) * kDeltaTile);
    }
    for (uint from = 0; from < view.num_rows; from += kDeltaTile) {
      for (uint s = 0; s < kDeltaSlots; ++s) {
        const uint first = (s * kDeltaSimdGroups + sg) * kDeltaTile;
        if (first == from) solve_tile(tiles[s], view, first, is_inside);
      }
      threadgroup_barrier(mem_flags::mem_device);  // its deltas are there for all
      for (uint s = 0; s < kDeltaSlots; ++s) {
        const uint first = (s * kDeltaSimdGroups + sg) * kDeltaTile;
        if (first >= from) add_deltas(tiles[s], view, from, first);
      }
    }
    for (uint s = 0; s < kDeltaSlots && is_inside; ++s) {
      store_tile(tiles[s], view, (s * kDeltaSimdGroups + sg) * kDeltaTile);
    }
    if (chunk + 1 == end) continue;  // a full chunk is kept as tokens until the next one comes
    if (tid < kDeltaChunk) fading[tid] = fade_to_end(view, tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint d = sg * kDeltaTile; d < params.key_head_dim && is_inside;
         d += kDeltaSimdGroups * kDeltaTile) {
      fold_rows(view, column, params, fading, d);
    }
    // S and the memory for fading are the next chunk's.
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  }
}
