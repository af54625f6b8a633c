#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "lattice/sampling.h"

namespace lattice {

/// The steps that depend on a token's identity and history: logit_bias, repetition_penalty,
/// frequency_penalty and presence_penalty, in f32 and in this order, as transformers
/// (SequenceBiasLogitsProcessor, RepetitionPenaltyLogitsProcessor) and then the OpenAI API
/// ("Frequency and presence penalties") define them. One sequence; not thread-safe.
class Penalties {
 public:
  /// Keeps what it needs of `options`, which must be valid.
  explicit Penalties(const SamplingOptions& options);

  /// Whether no step is asked for: apply() would change nothing.
  bool empty() const { return !uses_history_ && bias_.empty(); }

  void add_prompt_token(std::int32_t id);
  void add_output_token(std::int32_t id);

  /// Changes `logits`, which all added ids must index.
  void apply(std::span<float> logits) const;

 private:
  float repetition_, presence_, frequency_;
  bool uses_history_;
  std::vector<std::pair<std::int32_t, float>> bias_;
  std::unordered_map<std::int32_t, std::uint32_t> output_counts_;  // 0: in the prompt only
};

}  // namespace lattice
