// Activations, the gated activation and the causal convolution.

#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {

void MetalBackend::activation(Context&, const ActivationArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  const std::uint32_t threads = threads_for(cols);
  OpCall call(*device_, pipeline("bias_activation"));
  call.write(0, args.x, true);
  call.bind_nothing(1);
  call.value(2, ActivationParams{.num_columns = cols,
                                 .stride = cols,
                                 .activation = static_cast<std::uint32_t>(args.activation),
                                 .has_bias = 0});
  call.run({rows, blocks_of(cols, threads)}, {threads});
}

void MetalBackend::gated_activation(Context&, const GatedActivationArgs& args) const {
  const std::uint32_t rows = to_uint(args.gate.rows), cols = to_uint(args.gate.cols);
  if (rows == 0 || cols == 0) return;
  const std::uint32_t threads = threads_for(cols);
  OpCall call(*device_, pipeline("gated_activation"));
  call.read(0, args.gate);
  call.read(1, args.up);
  call.write(2, args.out);
  call.value(3, GatedActivationParams{.num_columns = cols,
                                      .gate_stride = cols,
                                      .up_stride = cols,
                                      .out_stride = cols,
                                      .activation = static_cast<std::uint32_t>(args.activation)});
  call.run({rows, blocks_of(cols, threads)}, {threads});
}

void MetalBackend::causal_conv1d(Context&, const CausalConv1dArgs& args) const {
  const std::uint32_t rows = to_uint(args.x.rows), cols = to_uint(args.x.cols);
  if (rows == 0 || cols == 0) return;
  const std::uint32_t threads = threads_for(cols);
  std::vector<float> history;
  for (const ConstMatrix& before : args.history) {
    for (std::int64_t r = 0; r < before.rows; ++r) {
      history.insert(history.end(), before.row(r), before.row(r) + cols);
    }
  }
  OpCall call(*device_, pipeline("causal_conv1d"));
  call.read(0, args.x);
  call.read(1, args.weight);
  call.read(2, std::span<const float>(history));
  call.read(3, args.layout.cu_seqlens);
  call.write(4, args.out);
  call.value(5, ConvParams{.num_seqs = to_uint(args.layout.num_seqs()),
                           .channels = cols,
                           .kernel_size = to_uint(args.kernel_size()),
                           .x_stride = cols,
                           .out_stride = cols,
                           .activation = static_cast<std::uint32_t>(args.activation),
                           .has_history = args.history.empty() ? 0u : 1u});
  call.run({rows, blocks_of(cols, threads)}, {threads});
}

}  // namespace lattice::metal
