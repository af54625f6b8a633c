// Qwen3.5 language models: blocks of Gated DeltaNet, every fourth one of gated full attention.
// Source: the Qwen3.5 and Qwen3-Next releases; names as in transformers' modeling_qwen3_5.py.
#include "models/decoder_weights.h"
#include "models/model_family.h"
#include "models/qwen3_5_mtp.h"

namespace lattice {
namespace {

class Qwen35Model final : public TextModel {
 public:
  Qwen35Model(const Qwen35Config& config, const WeightScope& root, const ModelSource& source)
      : config_(config), rope_(config.rope, source.rope_table_positions) {
    embed_tokens_ =
        root.child("embed_tokens").require("weight", {config.vocab_size, config.hidden_size});
    const WeightScope layers = root.child("layers");
    for (std::size_t i = 0; i < config.is_attention.size(); ++i) {
      const auto mixer =
          config.is_attention[i] ? Qwen35Block::Mixer::kAttention : Qwen35Block::Mixer::kDeltaNet;
      blocks_.push_back(
          Qwen35Block::load(layers.child(std::to_string(i)), config, mixer, source.format));
    }
    norm_ = RmsNorm::load(root.child("norm"), config.hidden_size, config.rms_norm_eps,
                          kQwen35NormOffset);
    mtp_ = load_qwen3_5_mtp(source.weights.child("mtp"), {config_, rope_, embed_tokens_},
                            source.format);
    traits_ = decoder_traits("qwen3_5", config);
  }

  const ModelTraits& traits() const override { return traits_; }

  std::unique_ptr<DecoderState> make_state() const override {
    DecoderStateShape shape;
    for (const bool is_attention : config_.is_attention) {
      if (is_attention) {
        shape.emplace_back(config_.kv_shape());
      } else {
        shape.emplace_back(config_.delta);
      }
    }
    return std::make_unique<DecoderState>(shape);
  }

  // Longer sequences of a dynamic RoPE turn their first tokens by other angles.
  bool can_continue(std::int64_t length) const override { return !rope_.depends_on_length(length); }

  const DraftHead* draft_head() const override { return mtp_.get(); }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
               const ActivationTap& tap) const override {
    const DecoderPass guard(batch);
    const EmbeddingTerm terms[] = {{&embed_tokens_, batch.input_ids}};
    embedding_lookup(context, {.terms = terms, .out = hidden});
    if (tap) tap("embeddings", hidden);
    const Workspace::Scope scratch(context.workspace());
    const RotaryPositions positions(rope_, batch, context.workspace());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].forward(context, {config_, batch, positions, i}, hidden);
      if (tap) tap("layer." + std::to_string(i), hidden);
    }
    norm_.forward(context, hidden, hidden);
    guard.commit();
  }

 private:
  Qwen35Config config_;
  ModelTraits traits_;
  RotaryTable rope_;
  Tensor embed_tokens_;  // [vocab_size, hidden]
  std::vector<Qwen35Block> blocks_;
  RmsNorm norm_;
  std::unique_ptr<const DraftHead> mtp_;  // or nullptr
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
