#include <string>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"
#include "backends/metal/packed_linear.h"
#include "base/check.h"
#include "tensor/q8_0.h"

namespace lattice::metal {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::int64_t kSimdGroups = kThreads / kSimdWidth;
// Up to here a column of SIMD groups per four rows beats a tile that is mostly empty.
constexpr std::int64_t kMaxShortRows = 8;
constexpr std::int64_t kShortRows = 4;  // of a threadgroup, as in gemm.metal
constexpr std::int64_t kTile = 32;      // as in gemm.metal

GemmParams gemm_params(const LinearArgs& args, bool has_bias) {
  return {.num_rows = to_uint(args.x.rows),
          .num_columns = to_uint(args.out.cols),
          .depth = to_uint(args.x.cols),
          .x_stride = to_uint(args.x.cols),
          .out_stride = to_uint(args.out.cols),
          .residual_stride = to_uint(args.out.cols),
          .activation = static_cast<std::uint32_t>(args.activation),
          .has_bias = has_bias ? 1u : 0u,
          .has_residual = args.residual ? 1u : 0u};
}

void bind_residual(OpCall& call, std::uint32_t index, const LinearArgs& args) {
  args.residual ? call.read(index, *args.residual) : call.bind_nothing(index);
}

// The activations in blocks, which stay on the device.
struct QuantizedRows {
  std::unique_ptr<Buffer> scales;
  std::unique_ptr<Buffer> quants;
};

QuantizedRows quantize_rows(Device& device, const Pipeline& pipeline, const ConstMatrix& x) {
  const std::int64_t num_blocks = num_q8_blocks(x.cols);
  const auto total = static_cast<std::size_t>(to_uint(x.rows * num_blocks * kQ8BlockSize));
  QuantizedRows rows = {
      .scales = value_or_throw(device.make_buffer(total / kQ8BlockSize * sizeof(float))),
      .quants = value_or_throw(device.make_buffer(total))};
  OpCall call(device, pipeline);
  call.read(0, x);
  call.bind(1, *rows.scales);
  call.bind(2, *rows.quants);
  call.value(3, QuantizeParams{.depth = to_uint(x.cols),
                               .num_blocks = to_uint(num_blocks),
                               .x_stride = to_uint(x.cols)});
  call.run({to_uint(x.rows), blocks_of(num_blocks, kSimdGroups)}, {kThreads});
  return rows;
}

}  // namespace

void MetalBackend::linear(Context&, const LinearArgs& args) const {
  const auto* packed = dynamic_cast<const MetalLinear*>(args.weight);
  check(packed != nullptr, "[linear] the weight was packed by another backend");
  if (args.x.rows == 0 || args.out.cols == 0) return;
  const GemmParams params = gemm_params(args, packed->has_bias());
  if (packed->format() == WeightFormat::kQ8_0) {
    const QuantizedRows x = quantize_rows(*device_, pipeline("quantize_q8_0"), args.x);
    OpCall call(*device_, pipeline("gemm_q8_0"));
    call.bind(0, *x.scales);
    call.bind(1, *x.quants);
    call.bind(2, packed->scales());
    call.bind(3, packed->weight());
    call.bind(4, packed->bias());
    bind_residual(call, 5, args);
    call.write(6, args.out);
    call.value(7, params);
    call.run({blocks_of(args.out.cols, kSimdGroups), params.num_rows}, {kThreads});
    return;
  }
  const bool is_short = args.x.rows <= kMaxShortRows;
  const std::string kernel = std::string(is_short ? "gemm_short_" : "gemm_long_") +
                             (packed->format() == WeightFormat::kBF16 ? "bf16" : "f32");
  OpCall call(*device_, pipeline(kernel));
  call.read(0, args.x);
  call.bind(1, packed->weight());
  call.bind(2, packed->bias());
  bind_residual(call, 3, args);
  call.write(4, args.out);
  call.value(5, params);
  const Extent grid =
      is_short ? Extent{blocks_of(args.out.cols, kSimdGroups), blocks_of(args.x.rows, kShortRows)}
               : Extent{blocks_of(args.out.cols, kTile), blocks_of(args.x.rows, kTile)};
  call.run(grid, {kThreads});
}

}  // namespace lattice::metal
