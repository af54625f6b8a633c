#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/generation/penalties.h"
#include "engine/generation/random_stream.h"
#include "engine/generation/token_distribution.h"
#include "lattice/sampling.h"

namespace lattice {

/// Chooses the tokens of one sequence:
///
///   Sampler sampler(options, vocab_size);
///   sampler.accept_prompt(prompt_ids);
///   for (...) { id = sampler.sample(logits); sampler.accept(id); }
///
/// Tokens depend on options, history, logits and the number of earlier sample() calls alone: not on
/// threads, batches or the platform. Not thread-safe: one sampler per sequence.
class Sampler {
 public:
  /// Throws LatticeError(kInvalidArgument) like validate(), and for vocab_size == 0.
  Sampler(const SamplingOptions& options, std::size_t vocab_size);

  /// Tells which tokens the prompt holds and which were generated; only penalties need to know.
  /// Throws LatticeError(kInvalidArgument) for an id that is not below vocab_size.
  void accept_prompt(std::span<const std::int32_t> ids);
  void accept(std::int32_t id);

  /// Chooses the next token. Uses up one random number unless temperature is 0. `logits`
  /// [vocab_size]. Throws LatticeError(kInternal) for NaN, plus infinity or no finite logit, and
  /// for another number of logits.
  std::int32_t sample(std::span<const float> logits);

  /// The tokens that sample() would choose from; with temperature 0 only the one it takes. Valid
  /// until the next call of either. Throws like sample().
  const TokenDistribution& distribution(std::span<const float> logits);

 private:
  void require_id(std::int32_t id) const;
  /// `logits` with bias and penalties; they themselves when there are none.
  std::span<const float> penalized(std::span<const float> logits);
  std::span<const float> scaled(std::span<const float> logits);
  void weigh_likeliest(std::span<const float> logits);

  SamplingOptions options_;
  std::size_t vocab_size_;
  Penalties penalties_;
  RandomStream random_;
  std::vector<float> logits_;  // changed ones
  TokenDistribution distribution_;
};

}  // namespace lattice
