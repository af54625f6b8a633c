// Qwen3.5 language models: blocks of Gated DeltaNet, every fourth one of gated full attention.
//   h += mixer((1 + w)-rms(h));  h += down(silu(gate(rms(h))) * up(rms(h)))
// Source: the Qwen3.5 and Qwen3-Next releases; names as in transformers' modeling_qwen3_5.py.
#include <variant>

#include "layers/gated_mlp.h"
#include "models/decoder_weights.h"
#include "models/model_family.h"
#include "models/qwen3_5_config.h"
#include "models/qwen3_5_layers.h"

namespace lattice {
namespace {

// The norms of this family store w - 1, but for the one inside Gated DeltaNet.
constexpr float kNormOffset = 1.0f;

struct Qwen35Layer {
  RmsNorm input_norm;
  std::variant<GatedAttention, GatedDeltaNet> mixer;
  RmsNorm post_attention_norm;
  GatedMlp mlp;
};

// style: allow(parameters) what a layer is loaded from
Qwen35Layer load_layer(const WeightScope& scope, const Qwen35Config& config, bool is_attention,
                       WeightFormat format) {
  const auto mixer = [&]() -> std::variant<GatedAttention, GatedDeltaNet> {
    if (is_attention) return GatedAttention::load(scope.child("self_attn"), config, format);
    return GatedDeltaNet::load(scope.child("linear_attn"), config, format);
  };
  const std::int64_t hidden = config.hidden_size;
  const float eps = config.rms_norm_eps;
  return Qwen35Layer{
      .input_norm = RmsNorm::load(scope.child("input_layernorm"), hidden, eps, kNormOffset),
      .mixer = mixer(),
      .post_attention_norm =
          RmsNorm::load(scope.child("post_attention_layernorm"), hidden, eps, kNormOffset),
      .mlp = GatedMlp::load(scope.child("mlp"), hidden, config.intermediate_size, format),
  };
}

class Qwen35Model final : public TextModel {
 public:
  Qwen35Model(const Qwen35Config& config, const WeightScope& root, const ModelSource& source)
      : config_(config), rope_(config.rope, source.rope_table_positions) {
    embed_tokens_ =
        root.child("embed_tokens").require("weight", {config.vocab_size, config.hidden_size});
    const WeightScope layers = root.child("layers");
    for (std::size_t i = 0; i < config.is_attention.size(); ++i) {
      layers_.push_back(load_layer(layers.child(std::to_string(i)), config, config.is_attention[i],
                                   source.format));
    }
    norm_ = RmsNorm::load(root.child("norm"), config.hidden_size, config.rms_norm_eps, kNormOffset);
    traits_ = decoder_traits("qwen3_5", config);
  }

  const ModelTraits& traits() const override { return traits_; }

  std::unique_ptr<DecoderState> make_state() const override {
    DecoderStateShape shape;
    for (const bool is_attention : config_.is_attention) {
      if (is_attention) {
        shape.emplace_back(KvCacheShape{config_.kv_dim()});
      } else {
        shape.emplace_back(config_.delta);
      }
    }
    return std::make_unique<DecoderState>(shape);
  }

  // Longer sequences of a dynamic RoPE turn their first tokens by other angles.
  bool can_continue(std::int64_t length) const override { return !rope_.depends_on_length(length); }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
               const ActivationTap& tap) const override {
    const DecoderPass guard(batch);
    const EmbeddingTerm terms[] = {{&embed_tokens_, batch.input_ids}};
    embedding_lookup(context, {.terms = terms, .out = hidden});
    if (tap) tap("embeddings", hidden);
    const RotaryPositions positions(rope_, batch);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      forward_layer(context, layers_[i], {config_, batch, positions, i}, hidden);
      if (tap) tap("layer." + std::to_string(i), hidden);
    }
    norm_.forward(context, hidden, hidden);
    guard.commit();
  }

 private:
  void forward_layer(Context& context, const Qwen35Layer& layer, const Qwen35Pass& pass,
                     MutMatrix hidden) const {
    const Workspace::Scope scratch(context.workspace());
    const MutMatrix normed = context.workspace().matrix(hidden.rows, config_.hidden_size);
    layer.input_norm.forward(context, hidden, normed);
    std::visit([&](const auto& mixer) { mixer.forward(context, pass, normed, hidden); },
               layer.mixer);
    layer.post_attention_norm.forward(context, hidden, normed);
    layer.mlp.forward(context, normed, config_.hidden_act, hidden, hidden);
  }

  Qwen35Config config_;
  ModelTraits traits_;
  RotaryTable rope_;
  Tensor embed_tokens_;  // [vocab_size, hidden]
  std::vector<Qwen35Layer> layers_;
  RmsNorm norm_;
};

std::unique_ptr<TextModel> load_qwen3_5(const ModelSource& source) {
  const Qwen35Config config = parse_qwen3_5_config(source.config, source.config_path);
  return std::make_unique<Qwen35Model>(
      config, find_decoder_root(source.weights, source.config_path), source);
}

}  // namespace

const ModelFamily& qwen3_5_family();  // declared for families.cc

const ModelFamily& qwen3_5_family() {
  static const ModelFamily family = {
      .name = "qwen3_5",
      .model_types = {"qwen3_5", "qwen3_5_text"},
      .architectures = {"Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5Model",
                        "Qwen3_5TextModel"},
      .unused_weights = {"lm_head.", "visual.", "mtp."},
      .load = load_qwen3_5,
      .load_head = nullptr,
      .language_head = load_decoder_head,
  };
  return family;
}

}  // namespace lattice
