// BERT-like encoders: BERT, MiniLM, BGE, E5 (absolute positions from 0), RoBERTa and XLM-RoBERTa
// (positions from pad_token_id + 1). Post-LN blocks:
//   h = LN(h + dense(attention(h)));  h = LN(h + output(act(intermediate(h))))
// Source: Devlin et al. 2018, arXiv:1810.04805; names as in transformers' modeling_bert.py.
#include <cmath>

#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "models/bert_config.h"
#include "models/bert_head.h"
#include "models/model_family.h"

namespace lattice {
namespace {

struct BertLayer {
  Linear qkv;               // [3 * hidden, hidden]
  Linear attention_output;  // [hidden, hidden]
  LayerNorm attention_norm;
  Linear intermediate;  // [intermediate, hidden]
  Linear output;        // [hidden, intermediate]
  LayerNorm output_norm;
};

LinearPart load_biased(const WeightScope& scope, std::int64_t in, std::int64_t out) {
  return load_linear_part(scope, in, out, /*bias=*/true);
}

BertLayer load_layer(const WeightScope& scope, const BertConfig& config, WeightFormat format) {
  const std::int64_t hidden = config.hidden_size;
  const WeightScope attention = scope.child("attention");
  const WeightScope self = attention.child("self");
  const WeightScope attention_output = attention.child("output");
  const WeightScope output = scope.child("output");
  return BertLayer{
      .qkv = Linear({load_biased(self.child("query"), hidden, hidden),
                     load_biased(self.child("key"), hidden, hidden),
                     load_biased(self.child("value"), hidden, hidden)},
                    format),
      .attention_output =
          Linear(load_biased(attention_output.child("dense"), hidden, hidden), format),
      .attention_norm =
          LayerNorm::load(attention_output.child("LayerNorm"), hidden, config.layer_norm_eps),
      .intermediate = Linear(
          load_biased(scope.child("intermediate").child("dense"), hidden, config.intermediate_size),
          format),
      .output =
          Linear(load_biased(output.child("dense"), config.intermediate_size, hidden), format),
      .output_norm = LayerNorm::load(output.child("LayerNorm"), hidden, config.layer_norm_eps),
  };
}

/// Position ids of one packed batch.
std::span<const std::int32_t> position_ids(const TokenBatch& batch, const BertConfig& config,
                                           Workspace& workspace) {
  const auto positions = workspace.array<std::int32_t>(batch.layout.num_tokens());
  const auto pad = static_cast<std::int32_t>(config.pad_token_id);
  for (std::int64_t s = 0; s < batch.layout.num_seqs(); ++s) {
    std::int32_t next = config.roberta_positions ? pad + 1 : 0;
    for (std::int64_t t = batch.layout.begin(s); t < batch.layout.end(s); ++t) {
      const auto i = static_cast<std::size_t>(t);
      const bool skipped = config.roberta_positions && batch.input_ids[i] == pad;
      positions[i] = skipped ? pad : next++;
    }
  }
  return positions;
}

class BertModel final : public TextModel {
 public:
  BertModel(const BertConfig& config, const WeightScope& root, WeightFormat format)
      : config_(config) {
    const WeightScope embeddings = root.child("embeddings");
    const std::int64_t hidden = config.hidden_size;
    words_ = embeddings.child("word_embeddings").require("weight", {config.vocab_size, hidden});
    positions_ = embeddings.child("position_embeddings")
                     .require_as_stored("weight", {config.max_position_embeddings, hidden});
    types_ = embeddings.child("token_type_embeddings")
                 .require_as_stored("weight", {config.type_vocab_size, hidden});
    norm_ = LayerNorm::load(embeddings.child("LayerNorm"), hidden, config.layer_norm_eps);
    const WeightScope layers = root.child("encoder").child("layer");
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.push_back(load_layer(layers.child(std::to_string(i)), config, format));
    }
    traits_ = {.family = "bert",
               .vocab_size = config.vocab_size,
               .hidden_size = hidden,
               .num_hidden_layers = config.num_hidden_layers,
               .heads = {.num_heads = config.num_attention_heads,
                         .num_kv_heads = config.num_attention_heads,
                         .head_dim = config.head_dim()},
               .max_positions = config.usable_positions(),
               .bidirectional = true};
  }

  const ModelTraits& traits() const override { return traits_; }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
               const ActivationTap& tap) const override {
    embed(context, batch, hidden);
    if (tap) tap("embeddings", hidden);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      forward_layer(context, layers_[i], batch.layout, hidden);
      if (tap) tap("layer." + std::to_string(i), hidden);
    }
  }

 private:
  void embed(Context& context, const TokenBatch& batch, MutMatrix hidden) const {
    const Workspace::Scope scratch(context.workspace());
    const auto positions = position_ids(batch, config_, context.workspace());
    // A model with one token type has only row 0, whatever the tokenizer says (XLM-R).
    std::span<const std::int32_t> types = batch.token_type_ids;
    if (types.empty() || config_.type_vocab_size == 1) {
      const auto zeros = context.workspace().array<std::int32_t>(batch.layout.num_tokens());
      std::ranges::fill(zeros, 0);
      types = zeros;
    }
    const EmbeddingTerm terms[] = {
        {&words_, batch.input_ids}, {&types_, types}, {&positions_, positions}};
    embedding_lookup(context, {.terms = terms, .out = hidden});
    norm_.forward(context, hidden, std::nullopt, hidden);
  }

  void forward_layer(Context& context, const BertLayer& layer, const SequenceLayout& layout,
                     MutMatrix hidden) const {
    const Workspace::Scope scratch(context.workspace());
    const std::int64_t tokens = hidden.rows;
    const std::int64_t width = config_.hidden_size;

    const MutMatrix qkv = context.workspace().matrix(tokens, 3 * width);
    layer.qkv.forward(context, hidden, qkv);
    const MutMatrix attended = context.workspace().matrix(tokens, width);
    attention(context, {.q = qkv.columns(0, width),
                        .k = qkv.columns(width, width),
                        .v = qkv.columns(2 * width, width),
                        .out = attended,
                        .layout = layout,
                        .num_heads = config_.num_attention_heads,
                        .num_kv_heads = config_.num_attention_heads,
                        .head_dim = config_.head_dim(),
                        .scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim())),
                        .causal = false});
    const MutMatrix projected = context.workspace().matrix(tokens, width);
    layer.attention_output.forward(context, attended, projected);
    layer.attention_norm.forward(context, projected, hidden, hidden);

    const MutMatrix inner = context.workspace().matrix(tokens, config_.intermediate_size);
    layer.intermediate.forward(context, hidden, inner, config_.hidden_act);
    layer.output.forward(context, inner, projected);
    layer.output_norm.forward(context, projected, hidden, hidden);
  }

  BertConfig config_;
  ModelTraits traits_;
  Tensor words_;      // [vocab_size, hidden]
  Tensor positions_;  // [max_position_embeddings, hidden]
  Tensor types_;      // [type_vocab_size, hidden]
  LayerNorm norm_;
  std::vector<BertLayer> layers_;
};

/// Checkpoints name the body's tensors with their task model's prefix, or none.
WeightScope find_root(const WeightScope& weights, const std::string& config_path) {
  constexpr std::string_view kProbe = "embeddings.word_embeddings.weight";
  if (weights.has(kProbe)) return weights;
  for (const std::string_view prefix : {"bert", "roberta", "model"}) {
    if (weights.child(prefix).has(kProbe)) return weights.child(prefix);
  }
  raise(ErrorCode::kNotFound,
        "[weights] {}: no tensor \"{}\", with or without the prefix bert., roberta. or model.",
        config_path, kProbe);
}

std::unique_ptr<TextModel> load_bert(const ModelSource& source) {
  const BertConfig config = parse_bert_config(source.config, source.config_path);
  return std::make_unique<BertModel>(config, find_root(source.weights, source.config_path),
                                     source.format);
}

}  // namespace

const ModelFamily& bert_family();  // declared for families.cc

const ModelFamily& bert_family() {
  static const ModelFamily family = {
      .name = "bert",
      .model_types = {"bert", "roberta", "xlm-roberta", "camembert"},
      .architectures = {"BertModel", "BertForMaskedLM", "BertForPreTraining",
                        "BertForSequenceClassification", "RobertaModel", "RobertaForMaskedLM",
                        "RobertaForSequenceClassification", "XLMRobertaModel",
                        "XLMRobertaForMaskedLM", "XLMRobertaForSequenceClassification",
                        "CamembertModel", "CamembertForMaskedLM",
                        "CamembertForSequenceClassification"},
      .unused_weights = {"pooler.", "position_ids", "cls.", "lm_head.", "classifier."},
      .load = load_bert,
      .load_head = load_bert_head,
  };
  return family;
}

}  // namespace lattice
