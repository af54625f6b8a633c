#include "engine/model_impl.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "engine/cross_encoder.h"
#include "engine/device.h"
#include "engine/inference_config.h"
#include "io/config_reader.h"
#include "io/model_directory.h"
#include "models/model_family.h"

namespace lattice {
namespace {

std::string architecture_name(const Json& config) {
  const Json* architectures = config.find("architectures");
  if (architectures == nullptr || architectures->items().empty()) return "";
  return std::string(architectures->items()[0].as_string().value_or(""));
}

/// Parameters and dtype as stored, from the file headers alone.
void describe_weights(const WeightFiles& files, ModelInfo& info) {
  std::set<std::string> dtypes;
  for (const std::string& name : files.names()) {
    const std::optional<Tensor> tensor = value_or_throw(files.find(name));
    if (!tensor || tensor->dtype() == DType::kI64) continue;  // position_ids is no parameter
    info.num_parameters += tensor->num_elements();
    dtypes.emplace(dtype_name(tensor->dtype()));
  }
  const std::string quantized(dtype_name(DType::kQ8_0));
  info.stored_dtype = dtypes.contains(quantized) ? quantized
                      : dtypes.size() == 1       ? *dtypes.begin()
                                                 : "mixed";
}

StoredQuantization stored_quantization(const Json& config, const std::string& config_path) {
  ConfigReader reader(config, config_path);
  const StoredQuantization stored = read_quantization(reader);
  value_or_throw(reader.finish());
  return stored;
}

void warn_unused_weights(const WeightScope& weights, const ModelFamily& family,
                         const std::string& directory) {
  for (const std::string& name : weights.unused_names()) {
    const bool expected =
        std::any_of(family.unused_weights.begin(), family.unused_weights.end(),
                    [&](std::string_view part) { return name.find(part) != std::string::npos; });
    if (!expected) log_warning("{}: tensor \"{}\" is not used", directory, name);
  }
}

LengthLimit length_limit(const TransformerModuleConfig& module, const Tokenizer& tokenizer,
                         const ModelTraits& traits) {
  return resolve_length_limit({.max_seq_length = module.max_seq_length,
                               .max_seq_length_source = module.source,
                               .model_max_length = tokenizer.model_max_length(),
                               .max_positions = traits.max_positions,
                               .positions_are_hard_limit = traits.positions_are_hard_limit});
}

void check_vocabulary(const Sourced<std::int64_t>& id, const ModelTraits& traits) {
  if (id.value < traits.vocab_size) return;
  raise(ErrorCode::kMalformed, "{}: {} is outside the model's vocabulary of {}", id.source,
        id.value, traits.vocab_size);
}

/// The token that ends a text to embed where the tokenizer does not say: inference_config.json's.
std::optional<std::int32_t> appended_token(const InferenceConfig& config,
                                           const Tokenizer& tokenizer, const ModelTraits& traits) {
  if (!config.eos_token_id) return std::nullopt;
  check_vocabulary(*config.eos_token_id, traits);
  if (tokenizer.num_special_tokens(/*pair=*/false) > 0) return std::nullopt;
  return static_cast<std::int32_t>(config.eos_token_id->value);
}

void describe_model(const LoadedModel& model, ModelInfo& info) {
  const ModelTraits& traits = model.body->traits();
  info.family = traits.family;
  info.vocab_size = traits.vocab_size;
  info.hidden_size = traits.hidden_size;
  info.num_hidden_layers = traits.num_hidden_layers;
  info.num_attention_heads = traits.heads.num_heads;
  info.max_length = {model.limit.max_tokens, model.limit.source};
}

void describe_embedder(const Embedder& embedder, ModelInfo& info) {
  const SentencePipeline& pipeline = embedder.pipeline();
  info.dimensions = {pipeline.dimension(info.hidden_size),
                     pipeline.modules.empty() ? "config.json: hidden_size" : "modules.json"};
  info.pooling = {pooling_name(pipeline.pooling.modes), pipeline.pooling.source};
  info.normalize = {pipeline.normalize, pipeline.normalize_source};
  const SentencePrompts& prompts = embedder.prompts();
  info.similarity = {
      prompts.similarity.value_or("cosine"),
      prompts.similarity ? "config_sentence_transformers.json: similarity_fn_name" : "default"};
  info.prompts = prompts.prompts;
  info.default_prompt_name = prompts.default_prompt_name;
}

void describe_generator(const Generator& generator, ModelInfo& info) {
  info.max_context = {generator.model().model().body->traits().max_positions,
                      "config.json: max_position_embeddings"};
  info.stop_token_ids = generator.config().eos_token_ids;
}

void describe_scorer(const Scorer& scorer, ModelInfo& info) {
  const LabelConfig& labels = scorer.labels();
  info.labels = labels.names;
  info.rerank_function = {std::string(score_function_name(labels.rerank_function)),
                          labels.rerank_function_source};
  info.classify_function = {std::string(score_function_name(labels.classify_function)),
                            labels.classify_function_source};
}

void describe_inference(const InferenceConfig& config, const ModelTraits& traits, ModelInfo& info) {
  info.eos_token_id = config.eos_token_id;
  if (traits.rotary_positions) info.rope_table_max_seq_len = config.rope_table_max_seq_len;
  info.gpu_max_seq_len = config.gpu_max_seq_len;
}

/// Loads one directory step by step; the members are what the later steps need.
class ModelLoader {
 public:
  ModelLoader(const std::filesystem::path& path, const ModelOptions& options)
      : directory_(value_or_throw(ModelDirectory::open(path))),
        device_name_(options.device),
        config_path_(directory_.path() / "config.json"),
        config_(value_or_throw(JsonDocument::parse_file(config_path_))),
        family_(find_model_family(config_.root(), config_path_.string())),
        stored_(stored_quantization(config_.root(), config_path_.string())),
        format_(choose_weight_format(options.dtype, stored_)),
        files_(value_or_throw(WeightFiles::open(directory_.path()))),
        inference_(load_inference_config(directory_.path())),
        modules_(load_module_list(directory_)),
        sentence_config_(load_sentence_prompts(directory_.path())),
        transformer_(load_transformer_module_config(directory_.path())),
        threads_(std::make_shared<ThreadPool>(options.num_threads)),
        source_{.config = config_.root(),
                .config_path = config_path_.string(),
                .weights = WeightScope(files_, format_),
                .format = format_,
                .rope_table_positions = inference_.rope_table_max_seq_len.value} {}

  Model::Impl::Parts load() {
    value_or_throw(check_quantization(stored_, files_, config_path_.string()));
    Model::Impl::Parts parts;
    parts.model = load_model();
    parts.scorer = load_scorer(parts.model);
    if (!parts.scorer || embeds_too()) parts.embedder = load_embedder(parts.model);
    load_generator(parts);
    warn_unused_weights(source_.weights, family_, directory_.path().string());
    describe(parts);
    return parts;
  }

 private:
  // A cross-encoder's directory without modules.json embeds by the library's defaults.
  bool embeds_too() const {
    if (modules_.empty()) return true;
    return is_embedding_chain(modules_) && !sentence_config_.is_cross_encoder;
  }

  std::shared_ptr<const LoadedModel> load_model() {
    std::unique_ptr<TextModel> body = family_.load(source_);
    device_ = choose_device(device_name_, body->traits().heads);
    Tokenizer tokenizer =
        Tokenizer::from_directory(directory_.path(), {.lowercase = transformer_.do_lower_case});
    LengthLimit limit = length_limit(transformer_, tokenizer, body->traits());
    return std::make_shared<const LoadedModel>(LoadedModel{
        .tokenizer = std::move(tokenizer),
        .body = std::move(body),
        .limit = std::move(limit),
        .contexts = std::make_unique<ContextPool>(device_.backend, threads_, gpu_max_seq_len())});
  }

  std::optional<std::int64_t> gpu_max_seq_len() const {
    if (!inference_.gpu_max_seq_len) return std::nullopt;
    return inference_.gpu_max_seq_len->value;
  }

  std::unique_ptr<Scorer> load_scorer(std::shared_ptr<const LoadedModel> model) const {
    return load_cross_encoder({.model = source_,
                               .family = family_,
                               .architecture = architecture_name(source_.config),
                               .modules = modules_,
                               .sentence_config = sentence_config_,
                               .transformer = transformer_,
                               .directory = directory_.path(),
                               .loaded = std::move(model)});
  }

  std::unique_ptr<const Embedder> load_embedder(std::shared_ptr<const LoadedModel> model) const {
    const ModelTraits& traits = model->body->traits();
    check_transformer_task(transformer_, "feature-extraction", "token_embeddings");
    auto embedder = std::make_unique<Embedder>(
        model, load_sentence_pipeline(directory_, traits.hidden_size), sentence_config_);
    embedder->append_token(appended_token(inference_, model->tokenizer, traits));
    embedder->set_fingerprint(std::make_unique<ModelFingerprint>(ModelFingerprint::Source{
        .directory = directory_,
        .module_directories = embedder->pipeline().directories,
        .weights = files_,
        .tokenizer = model->tokenizer.fingerprint(),
        .compute = fmt::format("dtype {}\ndevice {}\ntarget {}\n", weight_format_name(format_),
                               device_.backend->name(), device_.backend->target())}));
    return embedder;
  }

  // A decoder without a head, or with settings of generation that cannot be honoured, embeds all
  // the same; what is wrong is said when text is asked for.
  void load_generator(Model::Impl::Parts& parts) const {
    if (family_.language_head == nullptr) {
      parts.why_no_generator =
          Error{ErrorCode::kUnsupported,
                fmt::format("models of the family {} do not generate text", family_.name)};
      return;
    }
    const ModelTraits& traits = parts.model->body->traits();
    if (const auto& eos = inference_.eos_token_id) check_vocabulary(*eos, traits);
    GenerationConfig config;
    try {
      config = generation_config(*parts.model);
    } catch (const LatticeError& error) {
      parts.why_no_generator = error.error();
      return;
    }
    try {
      Tensor head = family_.language_head(source_, traits);
      parts.generator = std::make_unique<Generator>(Generator::Parts{
          .model = std::make_unique<LanguageModel>(parts.model, std::move(head), format_),
          .config = std::move(config),
          .max_context = traits.max_positions,
          .directory = directory_.path()});
    } catch (const LatticeError& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      parts.why_no_generator = Error{ErrorCode::kUnsupported, error.what()};
    }
  }

  GenerationConfig generation_config(const LoadedModel& model) const {
    GenerationConfig config = load_generation_config(
        directory_.path(),
        {.config = source_.config, .tokenizer_eos = model.tokenizer.special_token_ids().eos},
        model.body->traits().vocab_size);
    // A setting of the run goes before those of the model.
    if (const auto& eos = inference_.eos_token_id) {
      config.eos_token_ids = {{static_cast<std::int32_t>(eos->value)}, eos->source};
    }
    return config;
  }

  void describe(Model::Impl::Parts& parts) const {
    ModelInfo& info = parts.info;
    info.directory = directory_.path().string();
    info.architecture = architecture_name(source_.config);
    info.compute_dtype = weight_format_name(format_);
    info.device = device_.backend->name();
    info.device_target = device_.backend->target();
    info.device_reason = device_.reason;
    info.num_threads = threads_->num_threads();
    describe_weights(files_, info);
    describe_model(*parts.model, info);
    describe_inference(inference_, parts.model->body->traits(), info);
    if (parts.embedder) describe_embedder(*parts.embedder, info);
    if (parts.generator) describe_generator(*parts.generator, info);
    if (parts.scorer) describe_scorer(*parts.scorer, info);
    if (parts.scorer && !parts.embedder) {
      info.max_length = {parts.scorer->limit().max_tokens, parts.scorer->limit().source};
    }
  }

  ModelDirectory directory_;
  std::string device_name_;  // as asked for
  DeviceChoice device_;      // once the model's heads are known
  std::filesystem::path config_path_;
  JsonDocument config_;
  const ModelFamily& family_;
  StoredQuantization stored_;
  WeightFormat format_;
  WeightFiles files_;
  InferenceConfig inference_;
  std::vector<ModuleEntry> modules_;
  SentencePrompts sentence_config_;
  TransformerModuleConfig transformer_;
  std::shared_ptr<ThreadPool> threads_;
  ModelSource source_;
};

}  // namespace

std::shared_ptr<const Model::Impl> Model::Impl::load(const std::filesystem::path& path,
                                                     const ModelOptions& options) {
  return std::make_shared<const Impl>(ModelLoader(path, options).load());
}

const Embedder& Model::Impl::embedder() const {
  if (!parts_.embedder) {
    raise(ErrorCode::kUnsupported, "{}: this directory holds a cross-encoder, no embedding model",
          parts_.info.directory);
  }
  return *parts_.embedder;
}

const Generator& Model::Impl::generator() const {
  if (!parts_.generator) {
    const Error& why = parts_.why_no_generator.value();
    raise(why.code, "{}: this model generates no text: {}", parts_.info.directory, why.message);
  }
  return *parts_.generator;
}

const Scorer& Model::Impl::scorer() const {
  if (!parts_.scorer) {
    raise(ErrorCode::kUnsupported,
          "{}: this model has no classification head ({}); rerank and classify need one",
          parts_.info.directory, parts_.info.architecture);
  }
  return *parts_.scorer;
}

}  // namespace lattice
