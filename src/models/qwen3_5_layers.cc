#include "models/qwen3_5_layers.h"

#include <cmath>

#include "models/cached_attention.h"

namespace lattice {
namespace {

// One half of q_proj, whose rows are per head [query | gate]; `half` is 0 or 1.
void append_half(const LinearPart& q_proj, const Qwen35Config& config, std::int64_t half,
                 std::vector<LinearPart>& parts) {
  for (std::int64_t h = 0; h < config.num_attention_heads; ++h) {
    const std::int64_t begin = (2 * h + half) * config.head_dim;
    const std::int64_t end = begin + config.head_dim;
    LinearPart part{.weight = q_proj.weight.slice_rows(begin, end)};
    if (q_proj.bias) part.bias = q_proj.bias->slice_rows(begin, end);
    parts.push_back(std::move(part));
  }
}

// conv1d.weight [channels, 1, kernel] as [kernel, channels].
std::vector<float> load_conv_weight(const WeightScope& scope, const DeltaCacheShape& shape) {
  const auto channels = static_cast<std::size_t>(shape.conv_channels);
  const auto kernel = static_cast<std::size_t>(shape.conv_kernel);
  std::vector<float> stored(channels * kernel);
  scope.require_as_stored("weight", {shape.conv_channels, 1, shape.conv_kernel})
      .copy_to_f32(0, stored);
  std::vector<float> weight(stored.size());
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < kernel; ++i) weight[i * channels + c] = stored[c * kernel + i];
  }
  return weight;
}

}  // namespace

GatedAttention GatedAttention::load(const WeightScope& scope, const Qwen35Config& config,
                                    WeightFormat format) {
  const std::int64_t hidden = config.hidden_size;
  const bool bias = config.attention_bias;
  const LinearPart q_proj =
      load_linear_part(scope.child("q_proj"), hidden, 2 * config.q_dim(), bias);
  std::vector<LinearPart> parts;
  append_half(q_proj, config, 0, parts);
  parts.push_back(load_linear_part(scope.child("k_proj"), hidden, config.kv_dim(), bias));
  parts.push_back(load_linear_part(scope.child("v_proj"), hidden, config.kv_dim(), bias));
  append_half(q_proj, config, 1, parts);
  const float eps = config.rms_norm_eps;
  return GatedAttention(
      Linear(std::move(parts), format),
      Linear(load_linear_part(scope.child("o_proj"), config.q_dim(), hidden, bias), format),
      RmsNorm::load(scope.child("q_norm"), config.head_dim, eps, 1.0f),
      RmsNorm::load(scope.child("k_norm"), config.head_dim, eps, 1.0f));
}

void GatedAttention::forward(Context& context, const Qwen35Pass& pass, ConstMatrix x,
                             MutMatrix hidden) const {
  const Qwen35Config& config = pass.config;
  const std::int64_t q_dim = config.q_dim();
  const std::int64_t kv_dim = config.kv_dim();
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix all = context.workspace().matrix(x.rows, qkv_gate_.out_features());
  qkv_gate_.forward(context, x, all);
  const MutMatrix q = all.columns(0, q_dim);
  const MutMatrix kv = all.columns(q_dim, 2 * kv_dim);
  pass.positions.apply(context, {.q = q,
                                 .k = kv.columns(0, kv_dim),
                                 .head_dim = config.head_dim,
                                 .q_weight = q_norm_.weight(),
                                 .k_weight = k_norm_.weight(),
                                 .weight_offset = 1.0f,
                                 .eps = config.rms_norm_eps,
                                 .positions = {},
                                 .cos = {},
                                 .sin = {}});
  const MutMatrix attended = context.workspace().matrix(x.rows, q_dim);
  cached_attention(context, pass.batch, pass.layer, kv,
                   {.q = q,
                    .k = {},
                    .v = {},
                    .out = attended,
                    .layout = {},
                    .num_heads = config.num_attention_heads,
                    .num_kv_heads = config.num_key_value_heads,
                    .head_dim = config.head_dim,
                    .scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim)),
                    .causal = true});
  const MutMatrix gate = all.columns(q_dim + 2 * kv_dim, q_dim);
  gated_activation(context,
                   {.gate = gate, .up = attended, .activation = Activation::kSigmoid, .out = gate});
  o_proj_.forward(context, gate, hidden, Activation::kIdentity, ConstMatrix(hidden));
}

GatedDeltaNet GatedDeltaNet::load(const WeightScope& scope, const Qwen35Config& config,
                                  WeightFormat format) {
  const std::int64_t hidden = config.hidden_size;
  const DeltaRuleShape& rule = config.delta.rule;
  const auto part = [&](const char* name, std::int64_t rows) {
    return load_linear_part(scope.child(name), hidden, rows, false);
  };
  GatedDeltaNet layer(
      Linear({part("in_proj_qkv", config.delta.conv_channels), part("in_proj_z", rule.value_dim()),
              part("in_proj_b", rule.num_value_heads), part("in_proj_a", rule.num_value_heads)},
             format),
      Linear(load_linear_part(scope.child("out_proj"), rule.value_dim(), hidden, false), format));
  layer.conv_weight_ = load_conv_weight(scope.child("conv1d"), config.delta);
  layer.a_log_ = scope.require_floats("A_log", rule.num_value_heads);
  layer.dt_bias_ = scope.require_floats("dt_bias", rule.num_value_heads);
  layer.norm_weight_ = scope.child("norm").require_floats("weight", rule.value_head_dim);
  return layer;
}

void GatedDeltaNet::convolve(Context& context, const Qwen35Pass& pass, ConstMatrix x,
                             MutMatrix out) const {
  std::vector<ConstMatrix> history;
  for (DecoderState* state : pass.batch.states) {
    history.push_back(state->delta(pass.layer).history());
  }
  const DeltaCacheShape& shape = pass.config.delta;
  causal_conv1d(context, {.x = x,
                          .weight = {conv_weight_.data(), shape.conv_kernel, shape.conv_channels},
                          .activation = pass.config.hidden_act,
                          .out = out,
                          .layout = pass.batch.layout,
                          .history = history});
  for (std::size_t s = 0; s < pass.batch.states.size(); ++s) {
    const auto seq = static_cast<std::int64_t>(s);
    const SequenceLayout& layout = pass.batch.layout;
    pass.batch.states[s]
        ->delta(pass.layer)
        .append_inputs(x.rows_between(layout.begin(seq), layout.end(seq)));
  }
}

void GatedDeltaNet::forward(Context& context, const Qwen35Pass& pass, ConstMatrix x,
                            MutMatrix hidden) const {
  const DeltaRuleShape& rule = pass.config.delta.rule;
  const std::int64_t channels = pass.config.delta.conv_channels;
  const std::int64_t heads = rule.num_value_heads;
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix all = context.workspace().matrix(x.rows, in_proj_.out_features());
  in_proj_.forward(context, x, all);
  const MutMatrix qkv = context.workspace().matrix(x.rows, channels);
  convolve(context, pass, all.columns(0, channels), qkv);
  std::vector<DeltaRuleState*> states;
  for (DecoderState* state : pass.batch.states) {
    states.push_back(&state->delta(pass.layer).rule());
  }
  const MutMatrix out = context.workspace().matrix(x.rows, rule.value_dim());
  gated_delta_rule(context, {.shape = rule,
                             .q = qkv.columns(0, rule.key_dim()),
                             .k = qkv.columns(rule.key_dim(), rule.key_dim()),
                             .v = qkv.columns(2 * rule.key_dim(), rule.value_dim()),
                             .a = all.columns(channels + rule.value_dim() + heads, heads),
                             .b = all.columns(channels + rule.value_dim(), heads),
                             .a_log = a_log_,
                             .dt_bias = dt_bias_,
                             .out = out,
                             .layout = pass.batch.layout,
                             .states = states});
  gated_rms_norm(context, {.x = out,
                           .gate = all.columns(channels, rule.value_dim()),
                           .weight = norm_weight_,
                           .eps = pass.config.rms_norm_eps,
                           .out = out});
  out_proj_.forward(context, out, hidden, Activation::kIdentity, ConstMatrix(hidden));
}

}  // namespace lattice
