#include "engine/generation/penalties.h"

namespace lattice {

Penalties::Penalties(const SamplingOptions& options)
    : repetition_(options.repetition_penalty),
      presence_(options.presence_penalty),
      frequency_(options.frequency_penalty),
      uses_history_(repetition_ != 1 || presence_ != 0 || frequency_ != 0),
      bias_(options.logit_bias) {}

void Penalties::add_prompt_token(std::int32_t id) {
  if (repetition_ != 1) output_counts_.try_emplace(id, 0);
}

void Penalties::add_output_token(std::int32_t id) {
  if (uses_history_) ++output_counts_[id];
}

void Penalties::apply(std::span<float> logits) const {
  for (const auto& [id, bias] : bias_) logits[static_cast<std::size_t>(id)] += bias;
  for (const auto& [id, count] : output_counts_) {
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit < 0 ? logit * repetition_ : logit / repetition_;
    if (count == 0) continue;
    logit -= frequency_ * static_cast<float>(count);
    logit -= presence_;
  }
}

}  // namespace lattice
