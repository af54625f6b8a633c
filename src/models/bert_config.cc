#include "models/bert_config.h"

#include "io/config_reader.h"
#include "io/quantization_config.h"
#include "models/config_limits.h"

namespace lattice {
namespace {

// Keys that do not change the forward pass of an encoder.
void ignore_inert_keys(ConfigReader& reader) {
  reader.ignore({"architectures",
                 "model_type",
                 "transformers_version",
                 "torch_dtype",
                 "dtype",
                 "_name_or_path",
                 "name_or_path",
                 "attention_probs_dropout_prob",
                 "hidden_dropout_prob",
                 "classifier_dropout",
                 "initializer_range",
                 "gradient_checkpointing",
                 "id2label",
                 "label2id",
                 "num_labels",
                 "problem_type",
                 "use_cache",
                 "bos_token_id",
                 "eos_token_id",
                 "sep_token_id",
                 "cls_token_id",
                 "mask_token_id",
                 "unk_token_id",
                 "output_past",
                 "directionality",
                 "pooler_fc_size",
                 "pooler_num_attention_heads",
                 "pooler_num_fc_layers",
                 "pooler_size_per_head",
                 "pooler_type",
                 "finetuning_task",
                 "_num_labels",
                 "chunk_size_feed_forward",
                 "output_attentions",
                 "output_hidden_states",
                 "return_dict",
                 "sentence_transformers",
                 "sbert_ce_default_activation_function",
                 "auto_map",
                 "is_encoder_decoder",
                 "tie_word_embeddings",
                 "max_length",
                 "language",
                 "adapters",
                 "_attn_implementation_autoset",
                 "attn_implementation",
                 "model_max_length"});
}

void refuse_unsupported(ConfigReader& reader) {
  const std::string positions = reader.get_string("position_embedding_type", "absolute");
  if (positions != "absolute") {
    reader.refuse("position_embedding_type", fmt::format("\"{}\" is not implemented", positions));
  }
  if (reader.get_bool("is_decoder", false)) reader.refuse("is_decoder", "true is not implemented");
  if (reader.get_bool("add_cross_attention", false)) {
    reader.refuse("add_cross_attention", "true is not implemented");
  }
  const Json* pruned = reader.get("pruned_heads");
  if (pruned != nullptr && !pruned->members().empty()) {
    reader.refuse("pruned_heads", "pruned heads are not implemented");
  }
}

void read_activation(ConfigReader& reader, BertConfig& config) {
  const std::string name = reader.get_string("hidden_act", "gelu");
  const auto activation = parse_activation(name);
  if (activation) {
    config.hidden_act = *activation;
  } else {
    reader.refuse("hidden_act", fmt::format("\"{}\" is not implemented", name));
  }
}

void check_consistency(ConfigReader& reader, const BertConfig& config) {
  if (!reader.ok()) return;
  if (config.hidden_size % config.num_attention_heads != 0) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: num_attention_heads: expected a divisor of hidden_size {}, "
                                 "got {}",
                                 reader.source(), config.hidden_size, config.num_attention_heads));
  }
  if (config.usable_positions() < 1) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: max_position_embeddings: {} leaves no position after "
                    "pad_token_id {}",
                    reader.source(), config.max_position_embeddings, config.pad_token_id));
  }
}

}  // namespace

BertConfig parse_bert_config(const Json& config_json, const std::string& path) {
  ConfigReader reader(config_json, path);
  BertConfig config;
  const std::string model_type = reader.get_string("model_type", "bert");
  config.roberta_positions = model_type != "bert";
  config.vocab_size = reader.require_int("vocab_size", 1, kMaxVocab);
  config.hidden_size = reader.require_int("hidden_size", 1, kMaxWidth);
  config.num_hidden_layers = reader.require_int("num_hidden_layers", 1, kMaxLayers);
  config.num_attention_heads = reader.require_int("num_attention_heads", 1, kMaxWidth);
  config.intermediate_size = reader.require_int("intermediate_size", 1, kMaxWidth);
  config.max_position_embeddings = reader.require_int("max_position_embeddings", 1, kMaxVocab);
  // The classes' defaults differ (BertConfig 2 and 1e-12; RobertaConfig and XLMRobertaConfig too,
  // although every released XLM-R file states 1 and 1e-5).
  config.type_vocab_size = reader.get_int("type_vocab_size", 2, 1, kMaxVocab);
  config.pad_token_id =
      reader.get_int("pad_token_id", config.roberta_positions ? 1 : 0, 0, kMaxVocab);
  config.layer_norm_eps = static_cast<float>(reader.get_double("layer_norm_eps", 1e-12));
  if (reader.ok() && !(config.layer_norm_eps > 0.0f)) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: layer_norm_eps: expected a positive number", path));
  }
  read_activation(reader, config);
  refuse_unsupported(reader);
  read_quantization(reader);
  check_consistency(reader, config);
  ignore_inert_keys(reader);
  value_or_throw(reader.finish());
  reader.warn_unread_keys();
  return config;
}

}  // namespace lattice
