#include "models/qwen3_5_block.h"

namespace lattice {

Qwen35Block Qwen35Block::load(const WeightScope& scope, const Qwen35Config& config, Mixer mixer,
                              WeightFormat format) {
  const auto load_mixer = [&]() -> AnyMixer {
    if (mixer == Mixer::kAttention) {
      return GatedAttention::load(scope.child("self_attn"), config, format);
    }
    return GatedDeltaNet::load(scope.child("linear_attn"), config, format);
  };
  const auto norm = [&](const char* name) {
    return RmsNorm::load(scope.child(name), config.hidden_size, config.rms_norm_eps,
                         kQwen35NormOffset);
  };
  return {norm("input_layernorm"), load_mixer(), norm("post_attention_layernorm"),
          GatedMlp::load(scope.child("mlp"), config.hidden_size, config.intermediate_size, format)};
}

void Qwen35Block::forward(Context& context, const Qwen35Pass& pass, MutMatrix hidden) const {
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix normed = context.workspace().matrix(hidden.rows, hidden.cols);
  input_norm_.forward(context, hidden, normed);
  std::visit([&](const auto& mixer) { mixer.forward(context, pass, normed, hidden); }, mixer_);
  post_attention_norm_.forward(context, hidden, normed);
  mlp_.forward(context, normed, pass.config.hidden_act, hidden, hidden);
}

}  // namespace lattice
