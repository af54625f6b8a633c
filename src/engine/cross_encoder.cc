#include "engine/cross_encoder.h"

#include "engine/message_prompt.h"
#include "engine/pooled_head.h"
#include "engine/reranker_prompt.h"
#include "io/config_reader.h"
#include "models/linear_head.h"

namespace lattice {
namespace {

struct LogitScoreConfig {
  std::int64_t true_token_id = 0;
  std::optional<std::int64_t> false_token_id;
};

LogitScoreConfig load_logit_score_config(const ModuleEntry& module) {
  const std::filesystem::path file = module.directory.path() / "config.json";
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  constexpr std::int64_t kMaxId = std::int64_t{1} << 31;
  LogitScoreConfig config;
  config.true_token_id = reader.require_int("true_token_id", 0, kMaxId);
  if (reader.has("false_token_id")) {
    config.false_token_id = reader.require_int("false_token_id", 0, kMaxId);
  }
  const std::string input = reader.get_string("module_input_name", "causal_logits");
  if (input != "causal_logits") {
    reader.set_error(ErrorCode::kUnsupported, fmt::format("{}: module_input_name: \"{}\" is not "
                                                          "implemented",
                                                          file.string(), input));
  }
  value_or_throw(reader.finish());
  return config;
}

class CrossEncoderBuilder {
 public:
  explicit CrossEncoderBuilder(const CrossEncoderSource& source) : source_(source) {}

  std::unique_ptr<Scorer> build() {
    if (is_modular()) {
      build_modular();
    } else if (source_.architecture.ends_with("ForSequenceClassification")) {
      if (is_embedding_chain(source_.modules) && !has_head_weights()) return nullptr;
      build_classifier();
    } else if (source_.architecture.ends_with("ForCausalLM") && source_.modules.empty()) {
      if (!build_yes_no()) return nullptr;
    } else {
      return nullptr;
    }
    parts_.limit = limit();
    parts_.model = source_.loaded;
    return std::make_unique<Scorer>(std::move(parts_));
  }

 private:
  // Without the mark, modules.json is an embedding model's, which may have a head all the same.
  bool is_modular() const {
    return !source_.modules.empty() && source_.sentence_config.is_cross_encoder;
  }

  bool has_head_weights() const {
    for (const char* name : {"classifier.weight", "classifier.bias", "classifier.dense.weight",
                             "classifier.out_proj.weight", "score.weight"}) {
      if (source_.model.weights.has(name)) return true;
    }
    return false;
  }

  std::string default_prompt() const {
    const SentencePrompts& config = source_.sentence_config;
    if (!config.default_prompt_name || (!source_.modules.empty() && !is_modular())) return "";
    return config.find(*config.default_prompt_name);
  }

  // Pairs go into the chat template where the module says so, or where a directory without modules
  // has one; else one behind the other.
  void use_pairs() {
    if (source_.modules.empty() || source_.transformer.takes_messages) {
      if (auto chat = ChatTemplate::from_directory(source_.directory, source_.loaded->tokenizer)) {
        parts_.encoder = MessagePrompt::make(*source_.loaded, *std::move(chat), default_prompt());
        if (parts_.encoder == nullptr) {
          raise(ErrorCode::kUnsupported,
                "{}: the chat template does not write messages of the roles query and document",
                source_.directory.string());
        }
        return;
      }
    }
    parts_.encoder = std::make_unique<SequencePairEncoder>(*source_.loaded, default_prompt());
  }

  void use_plain_labels(std::size_t count) {
    parts_.labels = parse_label_config(source_.model.config, source_.model.config_path, count);
  }

  void build_classifier() {
    parts_.labels = parse_label_config(source_.model.config, source_.model.config_path);
    parts_.head = source_.family.load_head(
        {.model = source_.model,
         .architecture = source_.architecture,
         .hidden_size = hidden_size(),
         .num_labels = static_cast<std::int64_t>(parts_.labels.names.size())});
    use_pairs();
  }

  void build_modular() {
    const std::string file = source_.model.config_path;
    if (source_.modules.size() == 1) {
      check_transformer_task(source_.transformer, "sequence-classification", "scores");
      build_classifier();
    } else if (source_.modules[1].kind == ModuleKind::kLogitScore && source_.modules.size() == 2) {
      check_transformer_task(source_.transformer, "text-generation", "causal_logits");
      const LogitScoreConfig config = load_logit_score_config(source_.modules[1]);
      use_logits(config.true_token_id, config.false_token_id);
      use_pairs();
    } else {
      check_embedding_modules(source_.modules, file);
      check_transformer_task(source_.transformer, "feature-extraction", "token_embeddings");
      auto head = std::make_unique<PooledHead>(
          build_sentence_pipeline(source_.modules, file, hidden_size(), "scores"), hidden_size());
      use_plain_labels(static_cast<std::size_t>(head->num_labels()));
      parts_.head = std::move(head);
      use_pairs();
    }
    set_rerank_activation(source_.sentence_config.activation_fn,
                          "config_sentence_transformers.json: activation_fn", parts_.labels);
  }

  // A language model without modules: "yes" against "no" behind the rerankers' prompt.
  bool build_yes_no() {
    const auto yes = source_.loaded->tokenizer.token_to_id("yes");
    const auto no = source_.loaded->tokenizer.token_to_id("no");
    if (!yes || !no || source_.family.language_head == nullptr) return false;
    try {
      use_logits(*yes, *no);
    } catch (const LatticeError& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      return false;  // without lm_head the directory still embeds
    }
    if (auto chat = ChatTemplate::from_directory(source_.directory, source_.loaded->tokenizer)) {
      parts_.encoder = MessagePrompt::make(*source_.loaded, *std::move(chat), default_prompt());
    }
    // A template for conversations says nothing of queries and documents.
    if (parts_.encoder == nullptr) {
      parts_.encoder = std::make_unique<RerankerPrompt>(*source_.loaded, default_prompt());
    }
    return true;
  }

  void use_logits(std::int64_t true_id, std::optional<std::int64_t> false_id) {
    if (source_.family.language_head == nullptr) {
      raise(ErrorCode::kUnsupported, "{}: a LogitScore module needs a language model, got {}",
            source_.model.config_path, source_.architecture);
    }
    const Tensor head = source_.family.language_head(source_.model, source_.loaded->body->traits());
    std::vector<LinearPart> rows;
    for (const std::optional<std::int64_t> id : {std::optional(true_id), false_id}) {
      if (!id) continue;
      if (*id >= head.dim(0)) {
        raise(ErrorCode::kMalformed, "LogitScore: token id {} is outside the vocabulary of {}", *id,
              head.dim(0));
      }
      rows.push_back({.weight = head.slice_rows(*id, *id + 1)});
    }
    parts_.head = std::make_unique<LogitDifferenceHead>(std::move(rows));
    use_plain_labels(1);
  }

  std::int64_t hidden_size() const { return source_.loaded->body->traits().hidden_size; }

  // Only a modular cross-encoder has a sentence_bert_config.json of its own.
  LengthLimit limit() const {
    const ModelTraits& traits = source_.loaded->body->traits();
    LengthLimitInputs inputs{.model_max_length = source_.loaded->tokenizer.model_max_length(),
                             .max_positions = traits.max_positions,
                             .positions_are_hard_limit = traits.positions_are_hard_limit};
    if (is_modular()) {
      inputs.max_seq_length = source_.transformer.max_seq_length;
      inputs.max_seq_length_source = source_.transformer.source;
    }
    return resolve_length_limit(inputs);
  }

  const CrossEncoderSource& source_;
  Scorer::Parts parts_;
};

}  // namespace

std::unique_ptr<Scorer> load_cross_encoder(const CrossEncoderSource& source) {
  return CrossEncoderBuilder(source).build();
}

}  // namespace lattice
