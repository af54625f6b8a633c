#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {
namespace {

constexpr double kDecayUnit = 0x1p-36;                              // as in delta_rule.metal
constexpr std::int64_t kCells = kDeltaRuleChunk * kDeltaRuleChunk;  // scores of a chunk
constexpr std::uint32_t kScoreThreads = 128, kChunkThreads = 128;   // as the kernels say
constexpr std::int64_t kChunkColumns = 32;                          // of a threadgroup
// A call that brings a sequence fewer tokens than a tile has gains nothing from tiles.
constexpr std::int64_t kMinChunkedTokens = 8;

// The chunks that a call touches, sequence by sequence. A sequence without new tokens has none.
struct ChunkTable {
  explicit ChunkTable(const GatedDeltaRuleArgs& args) {
    for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
      const std::int64_t count = args.layout.length(s);
      if (count > 0) add(args.layout.begin(s), count, num_pending(args, s));
      first_chunks.push_back(static_cast<std::int32_t>(chunks.size()));
      longest = std::max(longest, count);
    }
  }
  static std::int64_t num_pending(const GatedDeltaRuleArgs& args, std::int64_t seq) {
    return args.states.empty() ? 0 : args.states[static_cast<std::size_t>(seq)]->num_pending;
  }
  void add(std::int64_t token, std::int64_t count, std::int64_t pending) {
    const std::int64_t end = pending + count;
    for (std::int64_t begin = 0; begin < end; begin += kDeltaRuleChunk) {
      const std::int64_t num_old = begin == 0 ? pending : 0;
      const std::int64_t rows = std::min(kDeltaRuleChunk, end - begin);
      chunks.push_back({.first_row = to_uint(num_rows),
                        .num_old = to_uint(num_old),
                        .num_rows = to_uint(rows),
                        .first_token = to_uint(token)});
      num_rows += rows;
      token += rows - num_old;
    }
  }

  std::vector<DeltaRuleChunk> chunks;
  std::vector<std::int32_t> first_chunks = {0};  // per sequence, and the end
  std::int64_t num_rows = 0;
  std::int64_t longest = 0;
};

// A zeroed array on the device.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Device& device, std::int64_t size)
      : buffer_(value_or_throw(
            device.make_buffer(std::max<std::size_t>(to_uint(size), 1) * sizeof(T)))) {
    std::memset(buffer_->contents().data(), 0, buffer_->num_bytes());
  }
  Buffer& buffer() { return *buffer_; }
  void put(std::int64_t at, const T* from, std::int64_t count) {
    std::memcpy(place(at), from, static_cast<std::size_t>(count) * sizeof(T));
  }
  void get(std::int64_t at, T* to, std::int64_t count) {
    std::memcpy(to, place(at), static_cast<std::size_t>(count) * sizeof(T));
  }

 private:
  std::byte* place(std::int64_t at) {
    return buffer_->contents().data() + static_cast<std::size_t>(at) * sizeof(T);
  }
  std::unique_ptr<Buffer> buffer_;
};

// What the kernels read and write, by rows of chunks (delta_rule.metal). The states' pending tokens
// are the first rows of their sequences.
struct DeviceRows {
  DeviceRows(Device& device, const GatedDeltaRuleArgs& args_in, const ChunkTable& table_in)
      : args(args_in),
        table(table_in),
        queries(device, table.num_rows * args.shape.key_dim()),
        keys(device, table.num_rows * args.shape.key_dim()),
        decays(device, table.num_rows * args.shape.num_value_heads),
        gates(device, 2 * table.num_rows * args.shape.num_value_heads),
        scores(device, std::ssize(table.chunks) * args.shape.num_value_heads * kCells),
        deltas(device, table.num_rows * delta_width()),
        matrix(device, args.layout.num_seqs() * matrix_size()) {
    for_each_state([this](const DeltaRuleState& state, std::int64_t seq) { upload(state, seq); });
  }

  // Brings the host's states up to date.
  void download() {
    for_each_state([this](DeltaRuleState& state, std::int64_t seq) { download(state, seq); });
  }

  std::int64_t delta_width() const {
    return args.shape.num_value_heads * args.shape.value_stride();
  }
  std::int64_t matrix_size() const { return delta_width() * args.shape.key_head_dim; }

  // Those with new tokens.
  template <typename Visit>
  void for_each_state(Visit visit) {
    for (std::int64_t s = 0; s < std::ssize(args.states); ++s) {
      if (args.layout.length(s) > 0) visit(*args.states[static_cast<std::size_t>(s)], s);
    }
  }
  const DeltaRuleChunk& first_chunk(std::int64_t seq) const {
    const std::int32_t chunk = table.first_chunks[static_cast<std::size_t>(seq)];
    return table.chunks[static_cast<std::size_t>(chunk)];
  }
  const DeltaRuleChunk& last_chunk(std::int64_t seq) const {
    const std::int32_t end = table.first_chunks[static_cast<std::size_t>(seq) + 1];
    return table.chunks[static_cast<std::size_t>(end) - 1];
  }

  void upload(const DeltaRuleState& state, std::int64_t seq) {
    const DeltaRuleShape& shape = args.shape;
    matrix.put(seq * matrix_size(), state.matrix, matrix_size());
    std::vector<float> key(static_cast<std::size_t>(shape.key_dim()));
    for (std::int64_t j = 0; j < state.num_pending; ++j) {
      const std::int64_t row = first_chunk(seq).first_row + j;
      for (std::int64_t d = 0; d < shape.key_dim(); ++d) {
        key[static_cast<std::size_t>(d)] = state.keys[d * kDeltaRuleChunk + j];
      }
      keys.put(row * shape.key_dim(), key.data(), shape.key_dim());
      for (std::int64_t h = 0; h < shape.num_value_heads; ++h) {
        const std::int64_t place = h * kDeltaRuleChunk + j;
        const std::int64_t decay = std::llrint(state.decays[place] / kDecayUnit);
        decays.put(row * shape.num_value_heads + h, &decay, 1);
        deltas.put(row * delta_width() + h * shape.value_stride(),
                   state.deltas + place * shape.value_stride(), shape.value_stride());
      }
    }
  }

  void download(DeltaRuleState& state, std::int64_t seq) {
    const DeltaRuleShape& shape = args.shape;
    matrix.get(seq * matrix_size(), state.matrix, matrix_size());
    std::vector<float> key(static_cast<std::size_t>(shape.key_dim()));
    for (std::int64_t j = 0; j < last_chunk(seq).num_rows; ++j) {
      const std::int64_t row = last_chunk(seq).first_row + j;
      keys.get(row * shape.key_dim(), key.data(), shape.key_dim());
      for (std::int64_t d = 0; d < shape.key_dim(); ++d) {
        state.keys[d * kDeltaRuleChunk + j] = key[static_cast<std::size_t>(d)];
      }
      for (std::int64_t h = 0; h < shape.num_value_heads; ++h) {
        const std::int64_t place = h * kDeltaRuleChunk + j;
        std::int64_t decay = 0;
        decays.get(row * shape.num_value_heads + h, &decay, 1);
        state.decays[place] = static_cast<double>(decay) * kDecayUnit;  // exact
        deltas.get(row * delta_width() + h * shape.value_stride(),
                   state.deltas + place * shape.value_stride(), shape.value_stride());
      }
    }
    state.num_pending = last_chunk(seq).num_rows;
  }

  const GatedDeltaRuleArgs& args;
  const ChunkTable& table;
  DeviceArray<float> queries, keys;
  DeviceArray<std::int64_t> decays;
  DeviceArray<float> gates, scores, deltas, matrix;
};

DeltaRuleParams params_of(const DeltaRuleShape& shape) {
  return {.num_key_heads = to_uint(shape.num_key_heads),
          .num_value_heads = to_uint(shape.num_value_heads),
          .key_head_dim = to_uint(shape.key_head_dim),
          .value_head_dim = to_uint(shape.value_head_dim),
          .value_stride = to_uint(shape.value_stride())};
}

void normalize(OpCall call, DeviceRows& rows) {
  call.read(0, rows.args.q);
  call.read(1, rows.args.k);
  call.read(2, std::span<const DeltaRuleChunk>(rows.table.chunks));
  call.bind(3, rows.queries.buffer());
  call.bind(4, rows.keys.buffer());
  call.value(5, params_of(rows.args.shape));
  call.run({to_uint(std::ssize(rows.table.chunks)), to_uint(rows.args.shape.num_key_heads)}, {128});
}

void compute_scores(OpCall call, DeviceRows& rows) {
  call.read(0, rows.args.a);
  call.read(1, rows.args.b);
  call.read(2, rows.args.a_log);
  call.read(3, rows.args.dt_bias);
  call.read(4, std::span<const DeltaRuleChunk>(rows.table.chunks));
  call.bind(5, rows.queries.buffer());
  call.bind(6, rows.keys.buffer());
  call.bind(7, rows.decays.buffer());
  call.bind(8, rows.gates.buffer());
  call.bind(9, rows.scores.buffer());
  call.value(10, params_of(rows.args.shape));
  call.run({to_uint(std::ssize(rows.table.chunks)), to_uint(rows.args.shape.num_value_heads)},
           {kScoreThreads});
}

}  // namespace

void MetalBackend::gated_delta_rule(Context&, const GatedDeltaRuleArgs& args) const {
  if (args.v.rows == 0) return;
  const ChunkTable table(args);
  DeviceRows rows(*device_, args, table);
  normalize(OpCall(*device_, pipeline("delta_rule_normalize")), rows);
  compute_scores(OpCall(*device_, pipeline("delta_rule_scores")), rows);

  const bool is_long = table.longest >= kMinChunkedTokens;
  OpCall call(*device_, pipeline(is_long ? "delta_rule_chunks" : "delta_rule_steps"));
  call.bind(0, rows.queries.buffer());
  call.bind(1, rows.keys.buffer());
  call.read(2, args.v);
  call.bind(3, rows.gates.buffer());
  call.bind(4, rows.decays.buffer());
  call.bind(5, rows.scores.buffer());
  call.read(6, std::span<const DeltaRuleChunk>(table.chunks));
  call.read(7, std::span<const std::int32_t>(table.first_chunks));
  call.bind(8, rows.matrix.buffer());
  call.bind(9, rows.deltas.buffer());
  call.write(10, args.out);
  call.value(11, params_of(args.shape));
  const std::int64_t columns = args.shape.value_head_dim;
  const std::uint32_t step_threads = threads_for(columns);
  call.run({to_uint(args.layout.num_seqs()), to_uint(args.shape.num_value_heads),
            blocks_of(columns, is_long ? kChunkColumns : step_threads)},
           {is_long ? kChunkThreads : step_threads});
  rows.download();
}

}  // namespace lattice::metal
