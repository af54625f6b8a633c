#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lattice/error.h"
#include "lattice/sampling.h"

namespace lattice {

/// How draft tokens are guessed that one pass then checks together. What is generated is the same
/// with and without: the same tokens, bit by bit the same logits.
enum class Speculation {
  kNone,
  /// What followed the last tokens where they occurred before (prompt lookup).
  kNgram,
  /// What the model's multi-token prediction head expects, where its files hold one.
  kMtp,
};

/// How to generate. The defaults are greedy and stop where the model's files say.
struct GenerateOptions {
  SamplingOptions sampling;
  /// The most tokens to generate; absent: max_new_tokens of generation_config.json, else 512.
  std::optional<std::size_t> max_tokens = std::nullopt;
  /// The most tokens of prompt and output together; absent: the model's max_position_embeddings.
  std::optional<std::size_t> max_context = std::nullopt;
  /// Generation ends before the first of these texts; they are not part of the output. Absent:
  /// stop_strings of generation_config.json. Empty: none.
  std::optional<std::vector<std::string>> stop = std::nullopt;
  /// Tokens that end generation; absent: eos_token_id of inference_config.json, else of
  /// generation_config.json, config.json or the tokenizer. Empty: none.
  std::optional<std::vector<std::int32_t>> stop_token_ids = std::nullopt;
  /// Absent: no log probabilities; else those of each token and of the n likeliest ones.
  std::optional<std::size_t> logprobs = std::nullopt;
  /// Leave special tokens out of the text.
  bool skip_special_tokens = true;
  Speculation speculation = Speculation::kNone;
  /// Draft tokens per pass, at most; absent: 8 of prompt lookup, 1 of the model's own head.
  std::optional<std::size_t> max_drafts = std::nullopt;
  /// Asked before every pass over the model, and so also within a long prompt: true ends the
  /// generation (FinishReason::kCancelled). Empty: never.
  std::function<bool()> cancelled = {};
  /// Of several prompts: record a prompt's error in its result instead of throwing; the others are
  /// continued. Options that no prompt could have are errors all the same.
  bool skip_errors = false;
};

/// Why a text ended.
enum class FinishReason {
  kStop,       ///< a stop token or a stop text
  kLength,     ///< max_tokens or max_context
  kCancelled,  ///< the callback asked for it
};

/// "stop", "length" or "cancelled".
std::string_view finish_reason_name(FinishReason reason);

/// How likely the model found a token, and which tokens it found likeliest.
struct TokenLogprobs {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  ///< likeliest first; of equal ones, lower ids first
};

/// What a generation cost.
struct GenerateTimings {
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;  ///< of the prompt, taken from an earlier call's state
  std::size_t output_tokens = 0;
  double prompt_ms = 0;  ///< until the first token was chosen
  double output_ms = 0;  ///< from then on
  std::size_t drafted_tokens = 0;
  std::size_t accepted_tokens = 0;
};

/// A generated text.
struct Generation {
  std::vector<std::int32_t> prompt_ids;
  /// With the stop token that ended it, if one did.
  std::vector<std::int32_t> ids;
  /// Without stop tokens and stop texts.
  std::string text;
  FinishReason finish_reason = FinishReason::kLength;
  std::vector<TokenLogprobs> logprobs;  ///< one per id, where asked for
  GenerateTimings timings;
  /// The device that computed a part of it where that is not ModelInfo::device; see TextReport.
  std::string other_device = {};
  std::optional<Error> error = std::nullopt;  ///< with skip_errors; nothing else is set then
};

/// Gets the text piece by piece, as it becomes certain: valid UTF-8, nothing of a stop text. False
/// ends the generation.
using OnText = std::function<bool(std::string_view piece)>;

/// How well a model predicts a text.
struct Perplexity {
  std::size_t num_tokens = 0;          ///< that were predicted
  double negative_log_likelihood = 0;  ///< their sum, in nats
  double seconds = 0;
  std::string other_device = {};  ///< as of a Generation
  /// exp of the mean negative log likelihood.
  double value() const;
};

/// How to measure a perplexity.
struct PerplexityOptions {
  /// Tokens that one window sees; absent: the smaller of 2048 and the model's positions.
  std::optional<std::size_t> window = std::nullopt;
  /// Tokens by which windows advance, each predicting what the one before did not; absent: half a
  /// window.
  std::optional<std::size_t> stride = std::nullopt;
};

}  // namespace lattice
