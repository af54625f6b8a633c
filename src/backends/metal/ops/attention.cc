#include <algorithm>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {
namespace {

// All keys and values of a batch, one sequence after another.
struct PackedKeys {
  explicit PackedKeys(const AttentionArgs& args) {
    for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
      const KeysValues seq = args.keys_values(s);
      for (std::int64_t i = 0; i < seq.num_keys(); ++i) {
        for (std::int64_t h = 0; h < args.num_kv_heads; ++h) {
          k.insert(k.end(), seq.key(i, h), seq.key(i, h) + args.head_dim);
          v.insert(v.end(), seq.value(i, h), seq.value(i, h) + args.head_dim);
        }
      }
      offsets.push_back(offsets.back() + static_cast<std::int32_t>(seq.num_keys()));
    }
  }

  std::vector<float> k, v;
  std::vector<std::int32_t> offsets = {0};
};

}  // namespace

void MetalBackend::attention(Context&, const AttentionArgs& args) const {
  const std::int64_t groups = args.num_heads / args.num_kv_heads;
  KernelLibrary& library = libraries_.for_heads(args.head_dim, groups);
  if (args.q.rows == 0) return;
  const PackedKeys keys(args);
  const std::uint32_t kv_width = to_uint(args.num_kv_heads * args.head_dim);
  OpCall call(*device_, library.pipeline("attention"));
  call.read(0, args.q);
  call.read(1, std::span<const float>(keys.k));
  call.read(2, std::span<const float>(keys.v));
  call.write(3, args.out);
  call.read(4, args.layout.cu_seqlens);
  call.read(5, std::span<const std::int32_t>(keys.offsets));
  call.value(6, AttentionParams{.num_seqs = to_uint(args.layout.num_seqs()),
                                .q_stride = to_uint(args.q.cols),
                                .k_stride = kv_width,
                                .v_stride = kv_width,
                                .out_stride = to_uint(args.q.cols),
                                .causal = args.causal ? 1u : 0u,
                                .window = to_uint(args.window),
                                .scale = args.scale});
  call.run({to_uint(args.q.rows), to_uint(args.num_kv_heads)}, {to_uint(groups * kSimdWidth)});
}

}  // namespace lattice::metal
