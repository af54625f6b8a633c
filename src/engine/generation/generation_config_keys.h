#pragma once

#include <limits>
#include <string_view>

#include "io/json.h"

namespace lattice {

// The keys of generation_config.json that lattice does not apply. Source: transformers 5.24,
// generation/configuration_utils.py, and keys of earlier versions.

/// A key that changes the tokens.
struct UnsupportedKey {
  std::string_view key;
  double neutral;            ///< the number that asks for nothing; NaN if none does
  std::string_view meaning;  ///< for "lattice does not implement ..."
};

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

inline constexpr UnsupportedKey kUnsupportedGenerationKeys[] = {
    {"num_beams", 1, "beam search"},
    {"num_beam_groups", 1, "beam search"},
    {"diversity_penalty", 0, "beam search"},
    {"constraints", kNoNumber, "constrained beam search"},
    {"force_words_ids", kNoNumber, "constrained beam search"},
    {"penalty_alpha", 0, "contrastive search"},
    {"dola_layers", kNoNumber, "DoLa decoding"},
    {"num_return_sequences", 1, "several answers at once"},
    {"min_length", 0, "minimum lengths"},
    {"min_new_tokens", 0, "minimum lengths"},
    {"exponential_decay_length_penalty", kNoNumber, "length penalties"},
    {"max_time", kNoNumber, "time limits"},
    {"top_h", 1, "top-h sampling"},
    {"typical_p", 1, "typical sampling"},
    {"epsilon_cutoff", 0, "epsilon sampling"},
    {"eta_cutoff", 0, "eta sampling"},
    {"encoder_repetition_penalty", 1, "encoder penalties"},
    {"no_repeat_ngram_size", 0, "forbidden n-grams"},
    {"encoder_no_repeat_ngram_size", 0, "forbidden n-grams"},
    {"bad_words_ids", kNoNumber, "forbidden words"},
    {"suppress_tokens", kNoNumber, "suppressed tokens"},
    {"begin_suppress_tokens", kNoNumber, "suppressed tokens"},
    {"forced_bos_token_id", kNoNumber, "forced tokens"},
    {"forced_eos_token_id", kNoNumber, "forced tokens"},
    {"forced_decoder_ids", kNoNumber, "forced tokens"},
    {"sequence_bias", kNoNumber, "biased sequences"},
    {"guidance_scale", 1, "classifier-free guidance"},
    {"watermarking_config", kNoNumber, "watermarks"},
    {"token_healing", kNoNumber, "token healing"},
};

/// Keys that change speed, memory or what else is returned, or only matter to the above.
inline constexpr std::string_view kInertGenerationKeys[] = {
    "_from_model_config",
    "transformers_version",
    "trust_remote_code",
    "use_cache",
    "cache_implementation",
    "cache_config",
    "max_cache_len",
    "early_stopping",
    "length_penalty",
    "renormalize_logits",
    "remove_invalid_values",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "output_logits",
    "return_dict_in_generate",
    "decoder_start_token_id",
    "is_assistant",
    "num_assistant_tokens",
    "num_assistant_tokens_schedule",
    "assistant_confidence_threshold",
    "prompt_lookup_num_tokens",
    "max_matching_ngram_size",
    "assistant_early_exit",
    "assistant_lookbehind",
    "target_lookbehind",
    "assistant_ensemble_weight",
    "speculation_type",
    "use_mtp",
    "compile_config",
    "disable_compile",
    "continuous_batching_config",
    "low_memory",
    "prefill_chunk_size",
    "is_encoder_decoder",
};

/// Whether a value of an unsupported key asks for nothing: `neutral`, null, false or empty.
inline bool is_neutral(const Json& value, double neutral) {
  if (const auto number = value.as_double()) return *number == neutral;
  if (const auto boolean = value.as_bool()) return !*boolean;
  if (const auto text = value.as_string()) return text->empty();
  return value.is_null() || (value.items().empty() && value.members().empty());
}

}  // namespace lattice
