// Qwen3 decoders: Qwen3-Embedding and the dense Qwen3 language models. Pre-norm blocks:
//   h += o_proj(attention(qk_norm_rope(qkv(rms(h)))));  h += down(silu(gate(rms(h))) * up(rms(h)))
// Source: Qwen3 Technical Report, arXiv:2505.09388; names as in transformers' modeling_qwen3.py.
#include <cmath>

#include "layers/gated_mlp.h"
#include "layers/linear.h"
#include "layers/rms_norm.h"
#include "models/cached_attention.h"
#include "models/decoder_weights.h"
#include "models/model_family.h"
#include "models/qwen3_config.h"
#include "models/qwen3_head.h"
#include "models/rotary_positions.h"

namespace lattice {
namespace {

struct Qwen3Layer {
  RmsNorm input_norm;
  Linear qkv;  // [q_dim + 2 * kv_dim, hidden]
  RmsNorm q_norm;
  RmsNorm k_norm;
  Linear o_proj;  // [hidden, q_dim]
  RmsNorm post_attention_norm;
  GatedMlp mlp;
};

Qwen3Layer load_layer(const WeightScope& scope, const Qwen3Config& config, WeightFormat format) {
  const std::int64_t hidden = config.hidden_size;
  const float eps = config.rms_norm_eps;
  const bool bias = config.attention_bias;
  const WeightScope attention = scope.child("self_attn");
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
      .mlp = GatedMlp::load(scope.child("mlp"), hidden, config.intermediate_size, format),
  };
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
    traits_ = decoder_traits("qwen3", config);
  }

  const ModelTraits& traits() const override { return traits_; }

  std::unique_ptr<DecoderState> make_state() const override {
    return std::make_unique<DecoderState>(DecoderStateShape(layers_.size(), config_.kv_shape()));
  }

  // Longer sequences of a dynamic RoPE turn their first tokens by other angles.
  bool can_continue(std::int64_t length) const override { return !rope_.depends_on_length(length); }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
               const ActivationTap& tap) const override {
    const DecoderPass pass(batch);
    const EmbeddingTerm terms[] = {{&embed_tokens_, batch.input_ids}};
    embedding_lookup(context, {.terms = terms, .out = hidden});
    if (tap) tap("embeddings", hidden);
    const Workspace::Scope scratch(context.workspace());
    const RotaryPositions positions(rope_, batch, context.workspace());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      forward_attention(context, i, batch, positions, hidden);
      forward_mlp(context, layers_[i], hidden);
      if (tap) tap("layer." + std::to_string(i), hidden);
    }
    norm_.forward(context, hidden, hidden);
    pass.commit();
  }

 private:
  // style: allow(parameters) what one pass shares, and where it is
  void forward_attention(Context& context, std::size_t index, const TokenBatch& batch,
                         const RotaryPositions& positions, MutMatrix hidden) const {
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
    positions.apply(context, {.q = q,
                              .k = kv.columns(0, config_.kv_dim()),
                              .head_dim = config_.head_dim,
                              .q_weight = layer.q_norm.weight(),
                              .k_weight = layer.k_norm.weight(),
                              .eps = config_.rms_norm_eps,
                              .positions = {},
                              .cos = {},
                              .sin = {}});
    const MutMatrix attended = context.workspace().matrix(tokens, config_.q_dim());
    cached_attention(context, batch, index, kv,
                     {.q = q,
                      .k = {},
                      .v = {},
                      .out = attended,
                      .layout = {},
                      .num_heads = config_.num_attention_heads,
                      .num_kv_heads = config_.num_key_value_heads,
                      .head_dim = config_.head_dim,
                      .scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim)),
                      .causal = true,
                      .window = config_.windows[index]});
    layer.o_proj.forward(context, attended, hidden, Activation::kIdentity, ConstMatrix(hidden));
  }

  void forward_mlp(Context& context, const Qwen3Layer& layer, MutMatrix hidden) const {
    const Workspace::Scope scratch(context.workspace());
    const MutMatrix normed = context.workspace().matrix(hidden.rows, config_.hidden_size);
    layer.post_attention_norm.forward(context, hidden, normed);
    layer.mlp.forward(context, normed, config_.hidden_act, hidden, hidden);
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
  return std::make_unique<Qwen3Model>(config, find_decoder_root(source.weights, source.config_path),
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
      .language_head = load_decoder_head,
  };
  return family;
}

}  // namespace lattice
