#pragma once

#include <variant>

#include "layers/gated_mlp.h"
#include "models/qwen3_5_layers.h"

namespace lattice {

// The norms of this family store w - 1, but for the one inside Gated DeltaNet.
inline constexpr float kQwen35NormOffset = 1.0f;

/// A transformer block: h += mixer((1 + w)-rms(h)); h += down(silu(gate(rms(h))) * up(rms(h))).
/// Thread-safe after construction.
class Qwen35Block {
 public:
  enum class Mixer { kAttention, kDeltaNet };

  // style: allow(parameters) what a block is loaded from
  static Qwen35Block load(const WeightScope& scope, const Qwen35Config& config, Mixer mixer,
                          WeightFormat format);

  /// hidden [num_tokens, hidden_size] is brought up to date.
  void forward(Context& context, const Qwen35Pass& pass, MutMatrix hidden) const;

 private:
  using AnyMixer = std::variant<GatedAttention, GatedDeltaNet>;

  Qwen35Block(RmsNorm input_norm, AnyMixer mixer, RmsNorm post_attention_norm, GatedMlp mlp)
      : input_norm_(std::move(input_norm)),
        mixer_(std::move(mixer)),
        post_attention_norm_(std::move(post_attention_norm)),
        mlp_(std::move(mlp)) {}

  RmsNorm input_norm_;
  AnyMixer mixer_;
  RmsNorm post_attention_norm_;
  GatedMlp mlp_;
};

}  // namespace lattice
