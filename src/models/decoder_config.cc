#include "models/decoder_config.h"

#include "models/config_limits.h"

namespace lattice {
namespace {

void ignore_inert_keys(ConfigReader& reader) {
  reader.ignore({"architectures",
                 "model_type",
                 "transformers_version",
                 "torch_dtype",
                 "dtype",
                 "_name_or_path",
                 "attention_dropout",
                 "initializer_range",
                 "use_cache",
                 "bos_token_id",
                 "eos_token_id",
                 "pad_token_id",
                 "output_attentions",
                 "output_hidden_states",
                 "return_dict",
                 "id2label",
                 "label2id",
                 "problem_type",
                 "chunk_size_feed_forward",
                 "attn_implementation"});
}

void check_shape(ConfigReader& reader, const DecoderConfig& config) {
  if (!reader.ok()) return;
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: num_key_value_heads: expected a divisor of "
                    "num_attention_heads {}, got {}",
                    reader.source(), config.num_attention_heads, config.num_key_value_heads));
  }
  if (!(config.rms_norm_eps > 0.0f)) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: rms_norm_eps: expected a positive number, got {}",
                                 reader.source(), config.rms_norm_eps));
  }
}

}  // namespace

void read_decoder_config(ConfigReader& reader, const DecoderConfigRules& rules,
                         DecoderConfig& config) {
  config.vocab_size = reader.require_int("vocab_size", 1, kMaxVocab);
  config.hidden_size = reader.require_int("hidden_size", 1, kMaxWidth);
  config.intermediate_size = reader.require_int("intermediate_size", 1, kMaxWidth);
  config.num_hidden_layers = reader.require_int("num_hidden_layers", 1, kMaxLayers);
  config.num_attention_heads = reader.require_int("num_attention_heads", 1, rules.max_heads);
  config.num_key_value_heads =
      reader.get_int("num_key_value_heads", config.num_attention_heads, 1, rules.max_heads);
  // The class default; never hidden_size / heads, which is another number for the released sizes.
  config.head_dim = reader.get_int("head_dim", rules.default_head_dim, 1, kMaxHeadDim);
  config.max_position_embeddings =
      reader.get_int("max_position_embeddings", 32768, 1, std::int64_t{1} << 30);
  config.rms_norm_eps = static_cast<float>(reader.get_double("rms_norm_eps", 1e-6));
  config.attention_bias = reader.get_bool("attention_bias", false);
  config.tie_word_embeddings = reader.get_bool("tie_word_embeddings", false);
  check_shape(reader, config);
  ignore_inert_keys(reader);
}

ModelTraits decoder_traits(std::string family, const DecoderConfig& config) {
  return {.family = std::move(family),
          .vocab_size = config.vocab_size,
          .hidden_size = config.hidden_size,
          .num_hidden_layers = config.num_hidden_layers,
          .heads = {.num_heads = config.num_attention_heads,
                    .num_kv_heads = config.num_key_value_heads,
                    .head_dim = config.head_dim},
          .max_positions = config.max_position_embeddings,
          .positions_are_hard_limit = false,
          .rotary_positions = true,
          .bidirectional = false,
          .tie_word_embeddings = config.tie_word_embeddings};
}

}  // namespace lattice
