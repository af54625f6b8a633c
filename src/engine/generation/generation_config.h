#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/json.h"
#include "lattice/model.h"
#include "lattice/sampling.h"

namespace lattice {

/// How a model's own files say that it generates; what they leave open is absent.
struct GenerationConfig {
  /// Each of them ends a text; empty when no file names one.
  Sourced<std::vector<std::int32_t>> eos_token_ids;
  std::optional<Sourced<std::int32_t>> bos_token_id;
  std::optional<Sourced<std::int32_t>> pad_token_id;
  std::optional<Sourced<std::vector<std::string>>> stop_strings;
  std::optional<Sourced<bool>> do_sample;
  std::optional<Sourced<float>> temperature;
  std::optional<Sourced<int>> top_k;
  std::optional<Sourced<float>> top_p;
  std::optional<Sourced<float>> min_p;
  std::optional<Sourced<float>> repetition_penalty;
  std::optional<Sourced<std::int64_t>> max_new_tokens;
  /// Of the prompt and the output together.
  std::optional<Sourced<std::int64_t>> max_length;
};

/// What else names end tokens, in order of precedence behind generation_config.json.
struct EosFallbacks {
  /// The root of config.json: its "eos_token_id", else that of its "text_config".
  const Json& config;
  /// SpecialTokenIds::eos of the tokenizer.
  std::optional<std::int32_t> tokenizer_eos;
};

/// Reads `directory`/generation_config.json, which may be absent. Keys that do not change the
/// tokens are ignored; unknown keys are logged as a warning. Throws LatticeError naming file and
/// key: kMalformed for a wrong type, a value out of range or an id that is not below `vocab_size`;
/// kUnsupported for a key that asks for what lattice does not do (beam search, suppressed tokens,
/// ...), unless its value is neutral: the tokens would silently be others. Thread-safe.
GenerationConfig load_generation_config(const std::filesystem::path& directory,
                                        const EosFallbacks& fallbacks, std::int64_t vocab_size);

/// What transformers' generate() does with `config`: without do_sample it is greedy (with
/// repetition_penalty, if that is set); with it, absent values are temperature 1 and top_k 50.
SamplingOptions default_sampling(const GenerationConfig& config);

}  // namespace lattice
