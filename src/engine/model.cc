#include "lattice/model.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "engine/device.h"
#include "engine/inference_config.h"
#include "engine/model_impl.h"
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
  info.stored_dtype = dtypes.size() == 1 ? *dtypes.begin() : "mixed";
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

/// The token that ends a text to embed where the tokenizer does not say: inference_config.json's.
std::optional<std::int32_t> appended_token(const InferenceConfig& config,
                                           const Tokenizer& tokenizer, const ModelTraits& traits) {
  if (!config.eos_token_id) return std::nullopt;
  const std::int64_t id = config.eos_token_id->value;
  if (id >= traits.vocab_size) {
    raise(ErrorCode::kMalformed, "{}: {} is outside the model's vocabulary of {}",
          config.eos_token_id->source, id, traits.vocab_size);
  }
  if (tokenizer.num_special_tokens(/*pair=*/false) > 0) return std::nullopt;
  return static_cast<std::int32_t>(id);
}

void describe_embedder(const Embedder& embedder, ModelInfo& info) {
  const ModelTraits& traits = embedder.model().traits();
  info.family = traits.family;
  info.vocab_size = traits.vocab_size;
  info.hidden_size = traits.hidden_size;
  info.num_hidden_layers = traits.num_hidden_layers;
  info.num_attention_heads = traits.num_attention_heads;
  const SentencePipeline& pipeline = embedder.pipeline();
  info.dimensions = {pipeline.dimension(traits.hidden_size),
                     pipeline.modules.empty() ? "config.json: hidden_size" : "modules.json"};
  info.pooling = {pooling_name(pipeline.pooling.modes), pipeline.pooling.source};
  info.normalize = {pipeline.normalize, pipeline.normalize_source};
  info.max_length = {embedder.limit().max_tokens, embedder.limit().source};
  const SentencePrompts& prompts = embedder.prompts();
  info.similarity = {
      prompts.similarity.value_or("cosine"),
      prompts.similarity ? "config_sentence_transformers.json: similarity_fn_name" : "default"};
  info.prompts = prompts.prompts;
  info.default_prompt_name = prompts.default_prompt_name;
}

void describe_inference(const InferenceConfig& config, const ModelTraits& traits, ModelInfo& info) {
  info.eos_token_id = config.eos_token_id;
  if (traits.rotary_positions) info.rope_table_max_seq_len = config.rope_table_max_seq_len;
  info.gpu_max_seq_len = config.gpu_max_seq_len;
}

}  // namespace

Model Model::from_directory(const std::filesystem::path& path, const ModelOptions& options) {
  const ModelDirectory directory = value_or_throw(ModelDirectory::open(path));
  const DeviceChoice device = choose_device(options.device);
  const WeightFormat format = choose_weight_format(options.dtype);
  const std::filesystem::path config_path = directory.path() / "config.json";
  const JsonDocument config = value_or_throw(JsonDocument::parse_file(config_path));
  const ModelFamily& family = find_model_family(config.root(), config_path.string());
  const WeightFiles files = value_or_throw(WeightFiles::open(directory.path()));
  const WeightScope weights(files);

  const InferenceConfig inference = load_inference_config(directory.path());
  std::unique_ptr<TextModel> model =
      family.load({.config = config.root(),
                   .config_path = config_path.string(),
                   .weights = weights,
                   .format = format,
                   .rope_table_positions = inference.rope_table_max_seq_len.value});
  warn_unused_weights(weights, family, directory.path().string());
  const TransformerModuleConfig module = load_transformer_module_config(directory.path());
  Tokenizer tokenizer =
      Tokenizer::from_directory(directory.path(), {.lowercase = module.do_lower_case});
  SentencePipeline pipeline = load_sentence_pipeline(directory, model->traits().hidden_size);
  LengthLimit limit = length_limit(module, tokenizer, model->traits());
  const auto last_token = appended_token(inference, tokenizer, model->traits());
  auto threads = std::make_shared<ThreadPool>(options.num_threads);

  ModelInfo info;
  info.directory = directory.path().string();
  info.architecture = architecture_name(config.root());
  info.compute_dtype = weight_format_name(format);
  info.device = device.backend->name();
  info.device_target = device.backend->target();
  info.device_reason = device.reason;
  info.num_threads = threads->num_threads();
  describe_weights(files, info);
  auto embedder =
      std::make_unique<Embedder>(std::move(tokenizer), std::move(model), std::move(pipeline),
                                 load_sentence_prompts(directory.path()), std::move(limit),
                                 std::make_unique<ContextPool>(device.backend, std::move(threads)));
  embedder->append_token(last_token);
  describe_embedder(*embedder, info);
  describe_inference(inference, embedder->model().traits(), info);
  embedder->set_fingerprint(std::make_unique<ModelFingerprint>(ModelFingerprint::Source{
      .directory = directory,
      .module_directories = embedder->pipeline().directories,
      .weights = files,
      .tokenizer = embedder->tokenizer().fingerprint(),
      .compute = fmt::format("dtype {}\ndevice {}\ntarget {}\n", info.compute_dtype, info.device,
                             info.device_target)}));
  return Model(std::make_shared<const Impl>(std::move(embedder), std::move(info)));
}

QwenModel QwenModel::from_directory(const std::filesystem::path& directory,
                                    const ModelOptions& options) {
  Model model = Model::from_directory(directory, options);
  if (model.info().family != "qwen3") {
    raise(ErrorCode::kUnsupported, "{}: expected a Qwen3 model, got the family {}",
          directory.string(), model.info().family);
  }
  return QwenModel(std::move(model));
}

Embeddings Model::embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  return impl_->embedder().embed(texts, options);
}

Embeddings Model::embed_ids(std::span<const std::vector<std::int32_t>> ids,
                            const EmbedOptions& options) const {
  return impl_->embedder().embed_ids(ids, options);
}

std::size_t Model::dimensions(const EmbedOptions& options) const {
  return impl_->embedder().dimensions(options);
}

const Tokenizer& Model::tokenizer() const { return impl_->embedder().tokenizer(); }

const ModelInfo& Model::info() const { return impl_->info(); }

}  // namespace lattice
