#include "engine/generation/sampler.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "engine/generation/logit_scan.h"

namespace lattice {
namespace {

const SamplingOptions& validated(const SamplingOptions& options, std::size_t vocab_size) {
  if (vocab_size == 0) raise(ErrorCode::kInvalidArgument, "[sampling] the vocabulary is empty");
  validate(options, vocab_size);
  return options;
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options, std::size_t vocab_size)
    : options_(validated(options, vocab_size)),
      vocab_size_(vocab_size),
      penalties_(options),
      random_(options.seed) {}

void Sampler::require_id(std::int32_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < vocab_size_) return;
  raise(ErrorCode::kInvalidArgument, "[sampling] expected a token id below {}, got {}", vocab_size_,
        id);
}

void Sampler::accept_prompt(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) {
    require_id(id);
    penalties_.add_prompt_token(id);
  }
}

void Sampler::accept(std::int32_t id) {
  require_id(id);
  penalties_.add_output_token(id);
}

std::span<const float> Sampler::penalized(std::span<const float> logits) {
  check(logits.size() == vocab_size_, "[sampling] expected {} logits, got {}", vocab_size_,
        logits.size());
  if (penalties_.empty()) return logits;
  logits_.assign(logits.begin(), logits.end());
  penalties_.apply(logits_);
  return logits_;
}

std::span<const float> Sampler::scaled(std::span<const float> logits) {
  if (options_.temperature == 1) return logits;
  logits_.resize(vocab_size_);
  for (std::size_t i = 0; i < vocab_size_; ++i) logits_[i] = logits[i] / options_.temperature;
  return logits_;
}

// The tokens that top_k and top_p leave.
void Sampler::weigh_likeliest(std::span<const float> logits) {
  const float max = max_logit(logits);
  const auto top_p = static_cast<double>(options_.top_p);
  const auto top_k = static_cast<std::size_t>(options_.top_k);
  if (top_k > 0 && top_k < vocab_size_) {
    weigh_tokens(logits, kth_largest(logits, top_k), max, distribution_);
    if (top_p < 1) keep_top_weight(top_p * distribution_.total, distribution_);
  } else if (top_p < 1) {
    const TopPBound bound = bound_top_p(logits, max, top_p);
    weigh_tokens(logits, bound.threshold, max, distribution_);
    keep_top_weight(top_p * bound.total, distribution_);
  } else {
    weigh_tokens(logits, -std::numeric_limits<float>::infinity(), max, distribution_);
  }
}

const TokenDistribution& Sampler::distribution(std::span<const float> logits) {
  logits = penalized(logits);
  if (options_.temperature == 0) {
    const std::int32_t id = argmax(logits);
    distribution_ = {{{id, logits[static_cast<std::size_t>(id)], 1}}, 1};
    return distribution_;
  }
  logits = scaled(logits);
  weigh_likeliest(logits);
  if (options_.min_p > 0) keep_min_p(static_cast<double>(options_.min_p), distribution_);
  return distribution_;
}

std::int32_t Sampler::sample(std::span<const float> logits) {
  if (options_.temperature == 0) return argmax(penalized(logits));
  return draw_token(distribution(logits), random_.next_uniform());
}

}  // namespace lattice
