#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

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
constexpr std::int64_t kShortRows = 4;  // of a threadgroup, as in gemm_short.metal and q8_0.metal
constexpr std::int64_t kTileColumns = 32;  // as in gemm_tiled.metal

// The kernels for a number of rows, and what a threadgroup of theirs covers.
struct GemmVariant {
  std::string_view name;
  std::int64_t max_rows;
  std::int64_t tile_rows;
  std::int64_t tile_columns;
};

// A SIMD group per column beats tiles that are at least half empty; tiles of half the height beat
// those that are too few for a GPU.
constexpr std::array<GemmVariant, 3> kVariants = {{
    {"short", 8, kShortRows, kSimdGroups},
    {"medium", 64, 16, kTileColumns},
    {"long", std::numeric_limits<std::int64_t>::max(), 32, kTileColumns},
}};

const GemmVariant& variant_for(std::int64_t num_rows) {
  return *std::ranges::find_if(
      kVariants, [num_rows](const GemmVariant& variant) { return num_rows <= variant.max_rows; });
}

// The elements that the kernel reads; kBF16 rounds x to them too.
std::string_view elements_of(const MetalLinear& weight) {
  if (weight.format() == WeightFormat::kBF16) return "bf16_rounded";
  if (weight.dtype() == DType::kBF16) return "bf16";
  return weight.dtype() == DType::kF16 ? "f16" : "f32";
}

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
    call.run({blocks_of(args.x.rows, kShortRows), blocks_of(args.out.cols, kSimdGroups)},
             {kThreads});
    return;
  }
  const GemmVariant& variant = variant_for(args.x.rows);
  OpCall call(*device_, pipeline(fmt::format("gemm_{}_{}", variant.name, elements_of(*packed))));
  call.read(0, args.x);
  call.bind(1, packed->weight());
  call.bind(2, packed->bias());
  bind_residual(call, 3, args);
  call.write(4, args.out);
  call.value(5, params);
  call.run(
      {blocks_of(args.x.rows, variant.tile_rows), blocks_of(args.out.cols, variant.tile_columns)},
      {kThreads});
}

}  // namespace lattice::metal
