// Normalisation of rows and heads.

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/msl_source.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {

void MetalBackend::layer_norm(Context&, const LayerNormArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  OpCall call(*device_, pipeline("layer_norm"));
  call.read(0, args.x);
  args.residual ? call.read(1, *args.residual) : call.bind_nothing(1);
  call.read(2, args.weight);
  args.bias.empty() ? call.bind_nothing(3) : call.read(3, args.bias);
  call.write(4, args.out);
  call.value(5, NormParams{.size = cols,
                           .x_stride = cols,
                           .residual_stride = cols,
                           .sum_stride = 0,
                           .out_stride = cols,
                           .has_residual = args.residual ? 1u : 0u,
                           .has_bias = args.bias.empty() ? 0u : 1u,
                           .weight_offset = 0.0f,
                           .eps = args.eps});
  call.run({rows}, {threads_for(cols)});
}

void MetalBackend::rms_norm(Context&, const RmsNormArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  OpCall call(*device_, pipeline("rms_norm"));
  call.read(0, args.x);
  call.read(1, args.weight);
  call.write(2, args.out);
  call.value(3, NormParams{.size = cols,
                           .x_stride = cols,
                           .residual_stride = 0,
                           .sum_stride = 0,
                           .out_stride = cols,
                           .has_residual = 0,
                           .has_bias = 0,
                           .weight_offset = args.weight_offset,
                           .eps = args.eps});
  call.run({rows}, {threads_for(cols)});
}

void MetalBackend::gated_rms_norm(Context&, const GatedRmsNormArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  const auto head_dim = static_cast<std::uint32_t>(args.weight.size());
  OpCall call(*device_, pipeline("gated_rms_norm"));
  call.read(0, args.x);
  call.read(1, args.gate);
  call.read(2, args.weight);
  call.write(3, args.out);
  call.value(4, GatedNormParams{.head_dim = head_dim,
                                .x_stride = cols,
                                .gate_stride = cols,
                                .out_stride = cols,
                                .activation = static_cast<std::uint32_t>(args.activation),
                                .eps = args.eps});
  call.run({rows, cols / head_dim}, {threads_for(head_dim)});
}

void MetalBackend::l2_normalize(Context&, const L2NormalizeArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  OpCall call(*device_, pipeline("l2_normalize"));
  call.write(0, args.x, true);
  call.value(1, RowParams{.size = cols, .stride = cols, .eps = args.eps});
  call.run({rows}, {threads_for(cols)});
}

void MetalBackend::qk_norm_rope(Context&, const QkNormRopeArgs& args) const {
  // The number of groups does not matter here; a shape that attention uses too compiles once.
  const std::int64_t num_heads = args.q.cols / args.head_dim;
  const std::int64_t num_kv_heads = args.k.cols / args.head_dim;
  const bool is_grouped = num_kv_heads > 0 && num_heads % num_kv_heads == 0;
  KernelLibrary& library =
      libraries_.for_heads(args.head_dim, is_grouped ? num_heads / num_kv_heads : 1);
  if (args.q.rows == 0 || num_heads + num_kv_heads == 0) return;
  const std::uint32_t half = to_uint(args.cos.cols);
  OpCall call(*device_, library.pipeline("qk_norm_rope"));
  call.write(0, args.q, true);
  call.write(1, args.k, true);
  call.read(2, args.q_weight);
  call.read(3, args.k_weight);
  call.read(4, args.positions);
  call.read(5, args.cos);
  call.read(6, args.sin);
  call.value(7, QkNormRopeParams{.num_heads = to_uint(num_heads),
                                 .q_stride = to_uint(args.q.cols),
                                 .k_stride = to_uint(args.k.cols),
                                 .rotary_half = half,
                                 .table_stride = half,
                                 .has_q_weight = args.q_weight.empty() ? 0u : 1u,
                                 .has_k_weight = args.k_weight.empty() ? 0u : 1u,
                                 .weight_offset = args.weight_offset,
                                 .eps = args.eps});
  call.run({to_uint(args.q.rows), to_uint(num_heads + num_kv_heads)},
           {to_uint(fused_threads(args.head_dim))});
}

}  // namespace lattice::metal
