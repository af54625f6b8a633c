// Qwen3 decoders: Qwen3-Embedding and the dense Qwen3 language models. Pre-norm blocks:
//   h += o_proj(attention(qk_norm_rope(qkv(rms(h)))));  h += down(silu(gate(rms(h))) * up(rms(h)))
// Source: Qwen3 Technical Report, arXiv:2505.09388; names as in transformers' modeling_qwen3.py.
#include <cmath>

#include "layers/linear.h"
#include "layers/rms_norm.h"
#include "models/model_family.h"
#include "models/qwen3_config.h"
#include "models/qwen3_head.h"
#include "models/qwen3_prefix.h"
#include "models/qwen3_weights.h"

namespace lattice {
namespace {

struct Qwen3Layer {
  RmsNorm input_norm;
  Linear qkv;  // [q_dim + 2 * kv_dim, hidden]
  RmsNorm q_norm;
  RmsNorm k_norm;
  Linear o_proj;  // [hidden, q_dim]
  RmsNorm post_attention_norm;
  Linear gate_up;  // [2 * intermediate, hidden]: gate, then up
  Linear down;     // [hidden, intermediate]
};

Qwen3Layer load_layer(const WeightScope& scope, const Qwen3Config& config, WeightFormat format) {
  const std::int64_t hidden = config.hidden_size;
  const float eps = config.rms_norm_eps;
  const bool bias = config.attention_bias;
  const WeightScope attention = scope.child("self_attn");
  const WeightScope mlp = scope.child("mlp");
  return Qwen3Layer{
      .input_norm = RmsNorm::load(scope.child("input_layernorm"), hidden, eps),
      .qkv = Linear({load_linear_part(attention.child("q_proj"), hidden, config.q_dim(), bias),
                     load_linear_part(attention.child("k_proj"), hidden, config.kv_dim(), bias),
                     load_linear_part(attention.child("v_proj"), hidden, config.kv_dim(), bias)},
                    format),
      .q_norm = RmsNorm::load(attention.child("q_norm"), config.head_dim, eps),
      .k_norm = RmsNorm::load(attention.child("k_norm"), config.head_dim, eps),
      .o_proj =
          Linear(load_linear_part(attention.child("o_proj"), config.q_dim(), hidden, bias), format),
      .post_attention_norm = RmsNorm::load(scope.child("post_attention_layernorm"), hidden, eps),
      .gate_up =
          Linear({load_linear_part(mlp.child("gate_proj"), hidden, config.intermediate_size, false),
                  load_linear_part(mlp.child("up_proj"), hidden, config.intermediate_size, false)},
                 format),
      .down =
          Linear(load_linear_part(mlp.child("down_proj"), config.intermediate_size, hidden, false),
                 format),
  };
}

std::vector<std::int32_t> position_ids(const SequenceLayout& layout, std::int64_t first) {
  std::vector<std::int32_t> positions;
  positions.reserve(static_cast<std::size_t>(layout.num_tokens()));
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    for (std::int64_t t = 0; t < layout.length(s); ++t) {
      positions.push_back(static_cast<std::int32_t>(first + t));
    }
  }
  return positions;
}

std::int64_t longest(const SequenceLayout& layout) {
  std::int64_t length = 0;
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) length = std::max(length, layout.length(s));
  return length;
}

class Qwen3Model final : public TextModel {
 public:
  Qwen3Model(const Qwen3Config& config, const WeightScope& root, const ModelSource& source)
      : config_(config), rope_(config.rope, source.rope_table_positions) {
    embed_tokens_ =
        root.child("embed_tokens").require("weight", {config.vocab_size, config.hidden_size});
    const WeightScope layers = root.child("layers");
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.push_back(load_layer(layers.child(std::to_string(i)), config, source.format));
    }
    norm_ = RmsNorm::load(root.child("norm"), config.hidden_size, config.rms_norm_eps);
    traits_ = {.family = "qwen3",
               .vocab_size = config.vocab_size,
               .hidden_size = config.hidden_size,
               .num_hidden_layers = config.num_hidden_layers,
               .num_attention_heads = config.num_attention_heads,
               .max_positions = config.max_position_embeddings,
               .positions_are_hard_limit = false,
               .rotary_positions = true,
               .bidirectional = false};
  }

  const ModelTraits& traits() const override { return traits_; }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
               const ActivationTap& tap) const override {
    forward_layers(context, batch, hidden, tap, nullptr);
    norm_.forward(context, hidden, hidden);
  }

  // Longer sequences of a dynamic RoPE turn their first tokens by other angles.
  bool can_share_prefix(std::int64_t length) const override {
    return !rope_.depends_on_length(length);
  }

  std::shared_ptr<const SharedPrefix> make_prefix(
      Context& context, std::span<const std::int32_t> ids) const override {
    const auto num_tokens = static_cast<std::int64_t>(ids.size());
    auto prefix =
        std::make_shared<Qwen3Prefix>(num_tokens, config_.kv_dim(), config_.num_hidden_layers);
    const Workspace::Scope scratch(context.workspace());
    const MutMatrix hidden = context.workspace().matrix(num_tokens, config_.hidden_size);
    const std::int32_t cu_seqlens[] = {0, static_cast<std::int32_t>(num_tokens)};
    forward_layers(context, {.input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}},
                   hidden, {}, prefix.get());
    return prefix;
  }

 private:
  struct Rotation {
    std::vector<std::int32_t> positions;
    std::shared_ptr<const RotaryAngles> angles;
  };

  // What one pass over the layers shares.
  struct Pass {
    const SequenceLayout& layout;
    Rotation rotation;
    const Qwen3Prefix* prefix;  // or nullptr
    Qwen3Prefix* kept;          // or nullptr: where keys and values are kept
  };

  // style: allow(parameters) forward() and one more
  void forward_layers(Context& context, const TokenBatch& batch, MutMatrix hidden,
                      const ActivationTap& tap, Qwen3Prefix* kept) const {
    const EmbeddingTerm terms[] = {{&embed_tokens_, batch.input_ids}};
    embedding_lookup(context, {.terms = terms, .out = hidden});
    if (tap) tap("embeddings", hidden);
    const auto* prefix = static_cast<const Qwen3Prefix*>(batch.prefix);
    const std::int64_t first = prefix != nullptr ? prefix->num_tokens() : 0;
    const Pass pass{
        batch.layout,
        {position_ids(batch.layout, first), rope_.angles(first + longest(batch.layout))},
        prefix,
        kept};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      forward_attention(context, i, pass, hidden);
      forward_mlp(context, layers_[i], hidden);
      if (tap) tap("layer." + std::to_string(i), hidden);
    }
  }

  void forward_attention(Context& context, std::size_t index, const Pass& pass,
                         MutMatrix hidden) const {
    const Qwen3Layer& layer = layers_[index];
    const Workspace::Scope scratch(context.workspace());
    const std::int64_t tokens = hidden.rows;
    const MutMatrix normed = context.workspace().matrix(tokens, config_.hidden_size);
    layer.input_norm.forward(context, hidden, normed);
    const MutMatrix qkv =
        context.workspace().matrix(tokens, config_.q_dim() + 2 * config_.kv_dim());
    layer.qkv.forward(context, normed, qkv);
    const MutMatrix q = qkv.columns(0, config_.q_dim());
    const MutMatrix kv = qkv.columns(config_.q_dim(), 2 * config_.kv_dim());
    rotate(context, layer, pass, q, kv.columns(0, config_.kv_dim()));
    if (pass.kept != nullptr) pass.kept->store(index, kv);
    std::vector<KeysValues> sequences;
    if (pass.prefix != nullptr) {
      sequences = join_prefix(context, pass.prefix->layer(index), kv, pass.layout);
    }
    const MutMatrix attended = context.workspace().matrix(tokens, config_.q_dim());
    attention(context, {.q = q,
                        .k = kv.columns(0, config_.kv_dim()),
                        .v = kv.columns(config_.kv_dim(), config_.kv_dim()),
                        .out = attended,
                        .layout = pass.layout,
                        .sequences = sequences,
                        .num_heads = config_.num_attention_heads,
                        .num_kv_heads = config_.num_key_value_heads,
                        .head_dim = config_.head_dim,
                        .scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim)),
                        .causal = true,
                        .window = config_.windows[index]});
    layer.o_proj.forward(context, attended, hidden, Activation::kIdentity, ConstMatrix(hidden));
  }

  void rotate(Context& context, const Qwen3Layer& layer, const Pass& pass, MutMatrix q,
              MutMatrix k) const {
    const SequenceLayout& layout = pass.layout;
    const Rotation& rotation = pass.rotation;
    const auto rotate_rows = [&](std::int64_t begin, std::int64_t end, const RotaryAngles& angles) {
      const auto first = static_cast<std::size_t>(begin);
      qk_norm_rope(
          context,
          {.q = q.rows_between(begin, end),
           .k = k.rows_between(begin, end),
           .head_dim = config_.head_dim,
           .q_weight = layer.q_norm.weight(),
           .k_weight = layer.k_norm.weight(),
           .eps = config_.rms_norm_eps,
           .positions =
               std::span(rotation.positions).subspan(first, static_cast<std::size_t>(end) - first),
           .cos = angles.cos_matrix(),
           .sin = angles.sin_matrix()});
    };
    if (!rope_.depends_on_length(longest(layout))) {
      rotate_rows(0, q.rows, *rotation.angles);
      return;
    }
    for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
      rotate_rows(layout.begin(s), layout.end(s), *rope_.angles(layout.length(s)));
    }
  }

  void forward_mlp(Context& context, const Qwen3Layer& layer, MutMatrix hidden) const {
    const Workspace::Scope scratch(context.workspace());
    const std::int64_t inner = config_.intermediate_size;
    const MutMatrix normed = context.workspace().matrix(hidden.rows, config_.hidden_size);
    layer.post_attention_norm.forward(context, hidden, normed);
    const MutMatrix gate_up = context.workspace().matrix(hidden.rows, 2 * inner);
    layer.gate_up.forward(context, normed, gate_up);
    const MutMatrix gate = gate_up.columns(0, inner);
    gated_activation(context, {.gate = gate,
                               .up = gate_up.columns(inner, inner),
                               .activation = config_.hidden_act,
                               .out = gate});
    layer.down.forward(context, gate, hidden, Activation::kIdentity, ConstMatrix(hidden));
  }

  Qwen3Config config_;
  ModelTraits traits_;
  RotaryTable rope_;
  Tensor embed_tokens_;  // [vocab_size, hidden]
  std::vector<Qwen3Layer> layers_;
  RmsNorm norm_;
};

std::unique_ptr<TextModel> load_qwen3(const ModelSource& source) {
  const Qwen3Config config = parse_qwen3_config(source.config, source.config_path);
  return std::make_unique<Qwen3Model>(config, find_qwen3_root(source.weights, source.config_path),
                                      source);
}

}  // namespace

const ModelFamily& qwen3_family();  // declared for families.cc

const ModelFamily& qwen3_family() {
  static const ModelFamily family = {
      .name = "qwen3",
      .model_types = {"qwen3"},
      .architectures = {"Qwen3Model", "Qwen3ForCausalLM", "Qwen3ForSequenceClassification"},
      .unused_weights = {"lm_head.", "score."},
      .load = load_qwen3,
      .load_head = load_qwen3_head,
      .language_head = load_qwen3_language_head,
  };
  return family;
}

}  // namespace lattice
