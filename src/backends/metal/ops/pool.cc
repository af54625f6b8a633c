#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"

namespace lattice::metal {

void MetalBackend::pool(Context&, const PoolArgs& args) const {
  const std::uint32_t rows = to_uint(args.out.rows), cols = to_uint(args.out.cols);
  if (rows == 0 || cols == 0) return;
  const std::uint32_t threads = threads_for(cols);
  OpCall call(*device_, pipeline("pool"));
  call.read(0, args.x);
  call.read(1, args.layout.cu_seqlens);
  call.read(2, args.skip);
  call.write(3, args.out);
  call.value(4, PoolParams{.hidden_size = cols,
                           .x_stride = cols,
                           .out_stride = cols,
                           .mode = static_cast<std::uint32_t>(args.mode),
                           .has_skip = args.skip.empty() ? 0u : 1u});
  call.run({rows, blocks_of(cols, threads)}, {threads});
}

}  // namespace lattice::metal
