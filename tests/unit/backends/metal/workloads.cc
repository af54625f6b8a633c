#include "unit/backends/metal/workloads.h"

#include <random>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/msl_source.h"
#include "ops/ops.h"
#include "unit/backends/metal/kernel_runner.h"

namespace lattice::metal {
namespace {

// Numbers in [-1, 1), the same for every call with the same count.
std::vector<float> numbers(std::int64_t count) {
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-31f - 1.0f;
  return values;
}

// A matrix and its memory.
struct Rows {
  Rows(std::int64_t rows_in, std::int64_t cols_in)
      : rows(rows_in), cols(cols_in), values(numbers(rows * cols)) {}
  MutMatrix view() { return {values.data(), rows, cols}; }

  std::int64_t rows, cols;
  std::vector<float> values;
};

Context context_on(const std::shared_ptr<Device>& device) {
  return Context(std::make_shared<const MetalBackend>(device), std::make_shared<ThreadPool>(1));
}

// A kernel that no op uses.
void run_alone(Device& device, std::string_view kernel, std::vector<KernelArgument> arguments,
               Extent threadgroups, Extent threads) {
  const std::string source = value_or_throw(msl_source_for_any_heads());
  value_or_throw(run_kernel(device, source, kernel, std::move(arguments), threadgroups, threads));
}

void embed(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  const Tensor words = Tensor::from_floats({5, 70}, numbers(350));
  const std::vector<BFloat16> narrow(350, to_bfloat16(0.5f));
  const auto bytes = std::as_bytes(std::span(narrow));
  const Tensor bf16(DType::kBF16, {5, 70}, bytes.data(), nullptr);
  const Tensor f16(DType::kF16, {5, 70}, bytes.data(), nullptr);
  const Tensor blocks = words.as_q8_0();
  const std::vector<std::int32_t> ids = {4, 0, 4};
  const EmbeddingTerm terms[] = {{&words, ids}, {&bf16, ids}, {&f16, ids}, {&blocks, ids}};
  Rows out(3, 70);
  embedding_lookup(context, {terms, out.view()});
}

void normalise(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  Rows x(2, 300), out(2, 300), gate(2, 300);
  const std::vector<float> weight = numbers(300), head_weight = numbers(100);
  rms_norm(context, {.x = x.view(), .weight = weight, .out = out.view()});
  layer_norm(context,
             {.x = x.view(), .residual = gate.view(), .weight = weight, .out = out.view()});
  gated_rms_norm(context,
                 {.x = x.view(), .gate = gate.view(), .weight = head_weight, .out = out.view()});
  l2_normalize(context, {.x = out.view()});
  std::vector<float> sum(600), scale = weight;
  run_alone(*device, "rms_norm_residual",
            {x.values, gate.values, scale, sum, out.values,
             NormParams{.size = 300,
                        .x_stride = 300,
                        .residual_stride = 300,
                        .sum_stride = 300,
                        .out_stride = 300,
                        .has_residual = 1,
                        .has_bias = 0,
                        .weight_offset = 0.0f,
                        .eps = 1e-6f}},
            {2}, {256});
}

void rotate(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  Rows q(3, 4 * kWorkloadHeadDim), k(3, 2 * kWorkloadHeadDim);
  Rows angles(8, kWorkloadHeadDim / 4);
  const std::vector<float> weight = numbers(kWorkloadHeadDim);
  const std::vector<std::int32_t> positions = {0, 7, 2};
  qk_norm_rope(context, {.q = q.view(),
                         .k = k.view(),
                         .head_dim = kWorkloadHeadDim,
                         .q_weight = weight,
                         .k_weight = weight,
                         .positions = positions,
                         .cos = angles.view(),
                         .sin = angles.view()});
}

void attend(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  Rows q(42, 4 * kWorkloadHeadDim), k(42, 2 * kWorkloadHeadDim), v(42, 2 * kWorkloadHeadDim);
  Rows out(42, 4 * kWorkloadHeadDim);
  const std::vector<std::int32_t> cu_seqlens = {0, 2, 42};
  attention(context, {.q = q.view(),
                      .k = k.view(),
                      .v = v.view(),
                      .out = out.view(),
                      .layout = {cu_seqlens},
                      .num_heads = 4,
                      .num_kv_heads = 2,
                      .head_dim = kWorkloadHeadDim,
                      .scale = 0.125f,
                      .causal = true});
}

void multiply(const std::shared_ptr<Device>& device, std::int64_t num_rows, WeightFormat format) {
  Context context = context_on(device);
  const std::vector<LinearPart> parts = {
      {.weight = Tensor::from_floats({45, 50}, numbers(45 * 50))}};
  const auto packed = context.backend().pack_linear(context.threads(), parts, format);
  Rows x(num_rows, 50), out(num_rows, 45);
  linear(context, {.weight = packed.get(), .x = x.view(), .out = out.view()});
}

void multiply_few(const std::shared_ptr<Device>& device) {
  multiply(device, 6, WeightFormat::kF32);
}
void multiply_many(const std::shared_ptr<Device>& device) {
  multiply(device, 20, WeightFormat::kF32);
  multiply(device, 70, WeightFormat::kBF16);
}
void multiply_blocks(const std::shared_ptr<Device>& device) {
  multiply(device, 6, WeightFormat::kQ8_0);
}

void convolve_and_activate(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  Rows x(5, 40), weight(4, 40), out(5, 40);
  const std::vector<std::int32_t> cu_seqlens = {0, 2, 5};
  causal_conv1d(context, {.x = x.view(),
                          .weight = weight.view(),
                          .activation = Activation::kSilu,
                          .out = out.view(),
                          .layout = {cu_seqlens}});
  activation(context, {.x = out.view(), .activation = Activation::kGelu});
  gated_activation(context, {.gate = out.view(), .up = x.view(), .out = out.view()});
}

// Two calls that continue one another, with `first` and `second` tokens.
void remember(const std::shared_ptr<Device>& device, std::int64_t first, std::int64_t second) {
  Context context = context_on(device);
  const DeltaRuleShape shape{1, 2, 16, 40};
  std::vector<float> matrix(2 * 16 * 48), keys(16 * 64), deltas(2 * 64 * 48);
  std::vector<double> decays(2 * 64);
  DeltaRuleState state{matrix.data(), keys.data(), deltas.data(), decays.data(), 0};
  DeltaRuleState* const states[] = {&state};
  const std::vector<float> gates(2, -1.0f);
  for (const std::int64_t count : {first, second}) {
    Rows q(count, 16), k(count, 16), v(count, 80), a(count, 2), out(count, 80);
    const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(count)};
    gated_delta_rule(context, {.shape = shape,
                               .q = q.view(),
                               .k = k.view(),
                               .v = v.view(),
                               .a = a.view(),
                               .b = a.view(),
                               .a_log = gates,
                               .dt_bias = gates,
                               .out = out.view(),
                               .layout = {cu_seqlens},
                               .states = states});
  }
}

void remember_chunks(const std::shared_ptr<Device>& device) { remember(device, 150, 60); }

// A few tokens a call, and then what no call does that the backend gives to this kernel: chunks
// that follow one another.
void remember_steps(const std::shared_ptr<Device>& device) {
  remember(device, 64, 3);
  constexpr std::int64_t kTokens = 140;
  std::vector<DeltaRuleChunk> chunks = {{0, 0, 64, 0}, {64, 0, 64, 64}, {128, 0, 12, 128}};
  std::vector<std::int32_t> first_chunks = {0, 3};
  auto q = numbers(kTokens * 16), k = numbers(kTokens * 16), v = numbers(kTokens * 40);
  auto gate = numbers(kTokens), head = numbers(1);
  std::vector<float> queries(q.size()), keys(q.size()), gates(2 * kTokens), scores(3 * 64 * 64);
  std::vector<float> matrix(16 * 48), deltas(kTokens * 48), out(v.size());
  std::vector<std::int64_t> decays(kTokens);
  const DeltaRuleParams params{1, 1, 16, 40, 48};
  run_alone(*device, "delta_rule_normalize", {q, k, chunks, queries, keys, params}, {3, 1}, {128});
  run_alone(*device, "delta_rule_scores",
            {gate, gate, head, head, chunks, queries, keys, decays, gates, scores, params}, {3, 1},
            {128});
  run_alone(
      *device, "delta_rule_steps",
      {queries, keys, v, gates, decays, scores, chunks, first_chunks, matrix, deltas, out, params},
      {1, 1, 1}, {64});
}

void pool_and_choose(const std::shared_ptr<Device>& device) {
  Context context = context_on(device);
  Rows x(9, 70), out(2, 70);
  const std::vector<std::int32_t> cu_seqlens = {0, 4, 9};
  for (const PoolingMode mode : {PoolingMode::kMean, PoolingMode::kLastToken}) {
    pool(context, {.x = x.view(), .layout = {cu_seqlens}, .mode = mode, .out = out.view()});
  }
  std::vector<std::int32_t> places(2);
  run_alone(*device, "argmax", {out.values, places, RowParams{70, 70, 0.0f}}, {2}, {128});
}

constexpr Workload kWorkloads[] = {
    {"embedding", embed},
    {"norm", normalise},
    {"qk_norm_rope", rotate},
    {"attention", attend},
    {"gemm_short", multiply_few},
    {"gemm_tiled", multiply_many},
    {"q8_0", multiply_blocks},
    {"elementwise", convolve_and_activate},
    {"delta_rule", remember_chunks},
    {"delta_rule_steps", remember_steps},
    {"delta_rule_chunks", remember_chunks},
    {"pool", pool_and_choose},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

}  // namespace lattice::metal
