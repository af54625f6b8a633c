#include "engine/quantize.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "engine/copy_model_files.h"
#include "engine/module_list.h"
#include "engine/quantize_weights.h"
#include "io/atomic_directory.h"
#include "io/atomic_file.h"
#include "io/json_text.h"
#include "io/quantization_config.h"
#include "models/model_family.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr const char* kQuantizationKey = "quantization_config";

/// `target` without links and dots; kInvalidArgument when it is the model's directory or inside it.
fs::path resolve_target(const fs::path& source, const fs::path& target) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(target), error);
  if (error) raise(ErrorCode::kIo, "{}: {}", target.string(), error.message());
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  const fs::path model = fs::canonical(source, error);
  if (error) raise(ErrorCode::kIo, "{}: {}", source.string(), error.message());
  const auto [rest, unused] = std::ranges::mismatch(model, resolved);
  if (rest == model.end()) {
    raise(ErrorCode::kInvalidArgument, "{}: expected a directory outside the model's, {}",
          target.string(), source.string());
  }
  return resolved;
}

/// The config with its new member. A null one, which means none, would make it two.
std::string quantized_config(std::string_view text, const Json& config, const std::string& path) {
  if (config.find(kQuantizationKey) != nullptr) {
    raise(ErrorCode::kUnsupported, "{}: {} is null: remove the key", path, kQuantizationKey);
  }
  return append_json_member(text, kQuantizationKey, q8_0_quantization_config());
}

void refuse_quantized(const Json& config, const WeightFiles& weights, const std::string& path) {
  ConfigReader reader(config, path);
  const StoredQuantization stored = read_quantization(reader);
  value_or_throw(reader.finish());
  value_or_throw(check_quantization(stored, weights, path));
  if (stored != StoredQuantization::kNone) {
    raise(ErrorCode::kUnsupported, "{}: {}: the model is quantized already", path,
          kQuantizationKey);
  }
}

/// The matrices that the family computes with in a weight format: it is asked to load, which takes
/// each tensor by name but reads none of the large ones.
std::set<std::string> find_quantizable(const Json& config, const std::string& config_path,
                                       const WeightFiles& weights) {
  const ModelFamily& family = find_model_family(config, config_path);
  const ModelSource source{
      .config = config, .config_path = config_path, .weights = WeightScope(weights)};
  const std::unique_ptr<TextModel> body = family.load(source);
  if (family.language_head != nullptr) {
    try {
      family.language_head(source, body->traits());
    } catch (const LatticeError& error) {
      if (error.code() != ErrorCode::kNotFound) throw;  // an embedding model needs no head
    }
  }
  const std::vector<std::string> names = source.weights.quantizable_names();
  return {names.begin(), names.end()};
}

ModelFilesToCopy files_to_copy(const ModelDirectory& model, const WeightFiles& weights,
                               const fs::path& target) {
  ModelFilesToCopy files{.source = model.path(),
                         .target = target,
                         .replaced = {kConfigFile, kIndexFile},
                         .module_folders = {}};
  for (const fs::path& file : weights.files()) {
    files.replaced.insert(file.lexically_relative(model.path()));
  }
  for (const ModuleEntry& module : load_module_list(model)) {
    const fs::path folder = fs::path(module.path).lexically_normal();
    if (module.kind != ModuleKind::kTransformer && folder != ".") {
      files.module_folders.insert(folder.has_filename() ? folder : folder.parent_path());
    }
  }
  return files;
}

}  // namespace

QuantizeReport quantize_model(const fs::path& source, const fs::path& target,
                              const QuantizeOptions& options) {
  const ModelDirectory model = value_or_throw(ModelDirectory::open(source));
  const fs::path resolved = resolve_target(source, target);
  const fs::path config_path = source / kConfigFile;
  const MappedFile config_file = value_or_throw(MappedFile::open(config_path));
  const std::string_view config_text = as_text(config_file.bytes());
  const JsonDocument config =
      value_or_throw(JsonDocument::parse(config_text, config_path.string()));
  const WeightFiles weights = value_or_throw(WeightFiles::open(source));
  refuse_quantized(config.root(), weights, config_path.string());
  const std::string new_config = quantized_config(config_text, config.root(), config_path.string());
  const std::set<std::string> quantizable =
      find_quantizable(config.root(), config_path.string(), weights);

  AtomicDirectory directory = value_or_throw(AtomicDirectory::create(resolved));
  QuantizeReport report;
  report.skipped_files = copy_model_files(files_to_copy(model, weights, directory.path()));
  value_or_throw(write_file_atomically(directory.path() / kConfigFile, new_config));
  for (const fs::path& file : weights.files()) report.bytes_before += fs::file_size(file);
  write_quantized_weights(weights, quantizable, directory.path(), options, report);
  value_or_throw(directory.commit());
  return report;
}

}  // namespace lattice
