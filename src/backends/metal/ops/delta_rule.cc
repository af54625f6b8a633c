#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {
namespace {

constexpr std::int64_t kMaxKeyDim = 256;  // as in delta_rule.metal

// The states of a batch on the device, one sequence after another. Decays are f32 there.
class DeviceStates {
 public:
  DeviceStates(Device& device, const GatedDeltaRuleArgs& args) : args_(args) {
    const DeltaRuleShape& shape = args.shape;
    const std::int64_t rows = shape.num_value_heads * kDeltaRuleChunk;
    sizes_ = {.matrix = shape.num_value_heads * shape.key_head_dim * shape.value_stride(),
              .keys = shape.num_key_heads * shape.key_head_dim * kDeltaRuleChunk,
              .deltas = rows * shape.value_stride(),
              .decays = rows};
    matrix_ = allocate(device, sizes_.matrix);
    work_ = allocate(device, sizes_.matrix);
    keys_ = allocate(device, sizes_.keys);
    deltas_ = allocate(device, sizes_.deltas);
    decays_ = allocate(device, sizes_.decays);
    for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) upload(s);
  }

  Buffer& matrix() { return *matrix_; }
  Buffer& work() { return *work_; }
  Buffer& keys() { return *keys_; }
  Buffer& deltas() { return *deltas_; }
  Buffer& decays() { return *decays_; }
  std::span<const std::int32_t> pending() const { return pending_; }

  // Brings the host's states up to date.
  void download() {
    for (std::int64_t s = 0; s < args_.layout.num_seqs(); ++s) {
      DeltaRuleState* state = state_of(s);
      const std::int64_t length = args_.layout.length(s);
      if (state == nullptr || length == 0) continue;
      std::memcpy(state->matrix, at(*matrix_, s, sizes_.matrix), bytes(sizes_.matrix));
      std::memcpy(state->keys, at(*keys_, s, sizes_.keys), bytes(sizes_.keys));
      std::memcpy(state->deltas, at(*deltas_, s, sizes_.deltas), bytes(sizes_.deltas));
      std::vector<float> decays(static_cast<std::size_t>(sizes_.decays));
      std::memcpy(decays.data(), at(*decays_, s, sizes_.decays), bytes(sizes_.decays));
      std::ranges::copy(decays, state->decays);
      state->num_pending = (state->num_pending + length - 1) % kDeltaRuleChunk + 1;
    }
  }

 private:
  struct Sizes {  // elements of one sequence
    std::int64_t matrix, keys, deltas, decays;
  };
  static std::size_t bytes(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(float);
  }
  static std::byte* at(Buffer& buffer, std::int64_t seq, std::int64_t size) {
    return buffer.contents().data() + bytes(seq * size);
  }
  std::unique_ptr<Buffer> allocate(Device& device, std::int64_t size) const {
    auto buffer =
        value_or_throw(device.make_buffer(bytes(to_uint(size * args_.layout.num_seqs()))));
    std::memset(buffer->contents().data(), 0, buffer->num_bytes());
    return buffer;
  }
  DeltaRuleState* state_of(std::int64_t seq) const {
    return args_.states.empty() ? nullptr : args_.states[static_cast<std::size_t>(seq)];
  }
  void upload(std::int64_t seq) {
    const DeltaRuleState* state = state_of(seq);
    pending_.push_back(state == nullptr ? 0 : static_cast<std::int32_t>(state->num_pending));
    if (state == nullptr) return;
    std::memcpy(at(*matrix_, seq, sizes_.matrix), state->matrix, bytes(sizes_.matrix));
    std::memcpy(at(*keys_, seq, sizes_.keys), state->keys, bytes(sizes_.keys));
    std::memcpy(at(*deltas_, seq, sizes_.deltas), state->deltas, bytes(sizes_.deltas));
    std::vector<float> decays;
    for (std::int64_t i = 0; i < sizes_.decays; ++i) {
      decays.push_back(static_cast<float>(state->decays[i]));
    }
    std::memcpy(at(*decays_, seq, sizes_.decays), decays.data(), bytes(sizes_.decays));
  }

  const GatedDeltaRuleArgs& args_;
  Sizes sizes_ = {};
  std::unique_ptr<Buffer> matrix_, work_, keys_, deltas_, decays_;
  std::vector<std::int32_t> pending_;
};

DeltaRuleParams params_of(const DeltaRuleShape& shape) {
  return {.num_key_heads = to_uint(shape.num_key_heads),
          .num_value_heads = to_uint(shape.num_value_heads),
          .key_head_dim = to_uint(shape.key_head_dim),
          .value_head_dim = to_uint(shape.value_head_dim),
          .value_stride = to_uint(shape.value_stride())};
}

}  // namespace

void MetalBackend::gated_delta_rule(Context&, const GatedDeltaRuleArgs& args) const {
  if (args.shape.key_head_dim > kMaxKeyDim) {
    raise(ErrorCode::kUnsupported, "[metal] key heads of {}, at most {}", args.shape.key_head_dim,
          kMaxKeyDim);
  }
  if (args.v.rows == 0) return;
  DeviceStates states(*device_, args);
  const DeltaRuleParams params = params_of(args.shape);
  const Extent grid = {to_uint(args.layout.num_seqs()), params.num_value_heads};
  const Extent threads = {threads_for(args.shape.value_head_dim)};
  OpCall replay(*device_, pipeline("delta_rule_replay"));
  replay.bind(0, states.matrix());
  replay.bind(1, states.keys());
  replay.bind(2, states.deltas());
  replay.bind(3, states.decays());
  replay.read(4, states.pending());
  replay.bind(5, states.work());
  replay.value(6, params);
  replay.run(grid, threads);

  OpCall steps(*device_, pipeline("delta_rule_steps"));
  steps.read(0, args.q);
  steps.read(1, args.k);
  steps.read(2, args.v);
  steps.read(3, args.a);
  steps.read(4, args.b);
  steps.read(5, args.a_log);
  steps.read(6, args.dt_bias);
  steps.read(7, args.layout.cu_seqlens);
  steps.read(8, states.pending());
  steps.bind(9, states.matrix());
  steps.bind(10, states.work());
  steps.bind(11, states.keys());
  steps.bind(12, states.deltas());
  steps.bind(13, states.decays());
  steps.write(14, args.out);
  steps.value(15, params);
  steps.run(grid, threads);
  states.download();
}

}  // namespace lattice::metal
