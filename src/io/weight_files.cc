#include "io/weight_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "io/model_directory.h"
#include "io/safetensors.h"
#include "io/weight_index.h"

namespace lattice {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";
constexpr std::size_t kMaxNamesListed = 5;

/// "a", "b" and 3 more.
std::string list_names(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamesListed); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kMaxNamesListed) {
    text += fmt::format(" and {} more", names.size() - kMaxNamesListed);
  }
  return text;
}

/// The first file of the directory in a format that other programs use for weights, or "".
std::string find_foreign_weights(const fs::path& directory) {
  std::vector<std::string> found;
  for (const fs::path& folder : {directory, directory / "onnx"}) {
    std::error_code ignored;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
      const std::string name = file.path().filename().string();
      if (WeightFiles::looks_like_weights(name)) {
        found.push_back(file.path().lexically_relative(directory).string());
      }
    }
  }
  // pytorch_model.bin is what most directories have beside others: prefer to name it.
  const auto preferred =
      std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(!a.starts_with("pytorch_model"), a) <
               std::pair(!b.starts_with("pytorch_model"), b);
      });
  return preferred == found.end() ? "" : *preferred;
}

Error no_weights(const fs::path& directory) {
  const std::string foreign = find_foreign_weights(directory);
  if (foreign.empty()) {
    return {ErrorCode::kNotFound, fmt::format("[weights] {}: expected {} or {}, found no weights",
                                              directory.string(), kSingleFile, kIndexFile)};
  }
  return {ErrorCode::kUnsupported,
          fmt::format("[weights] {}: expected {} or {}, found only {}. lattice reads safetensors: "
                      "look for a revision of the model that has them, or load the model in Python "
                      "with transformers and call save_pretrained(path, safe_serialization=True)",
                      directory.string(), kSingleFile, kIndexFile, foreign)};
}

/// A shard, mapped by the first thread that needs it. A failure is not remembered: the next call
/// tries again.
class Shard {
 public:
  explicit Shard(fs::path path) : path_(std::move(path)) {}
  explicit Shard(SafetensorsFile file) : path_(file.path()), file_(std::move(file)) {}

  const fs::path& path() const { return path_; }

  Result<SafetensorsFile> file() {
    const std::lock_guard lock(mutex_);
    if (file_) return *file_;
    auto opened = SafetensorsFile::open(path_);
    if (opened) file_ = *opened;
    return opened;
  }

 private:
  const fs::path path_;
  std::mutex mutex_;
  std::optional<SafetensorsFile> file_;  // guarded by mutex_
};

}  // namespace

struct WeightFiles::State {
  std::string source;  // the single file or the index, for messages
  std::map<std::string, std::unique_ptr<Shard>, std::less<>> shards;
  std::map<std::string, Shard*, std::less<>> shard_of;

  /// kNotFound naming every absent shard and what it should hold.
  Result<void> check_shards_exist() const;
  /// Warns about files that look like shards but are in no entry of the index.
  void report_stale_shards(const fs::path& directory) const;
};

Result<void> WeightFiles::State::check_shards_exist() const {
  std::vector<std::string_view> missing;
  for (const auto& [name, shard] : shards) {
    std::error_code ignored;
    if (!fs::exists(shard->path(), ignored)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  std::vector<std::string_view> tensors;
  for (const auto& [name, shard] : shard_of) {
    std::error_code ignored;
    if (!fs::exists(shard->path(), ignored)) tensors.push_back(name);
  }
  return fail(ErrorCode::kNotFound, "[weights] {}: {} of {} shards are missing: {}; they hold {}",
              source, missing.size(), shards.size(), list_names(missing), list_names(tensors));
}

void WeightFiles::State::report_stale_shards(const fs::path& directory) const {
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(directory, ignored)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("model-") && name.ends_with(".safetensors") && !shards.contains(name)) {
      log_warning("{}: {} is not in the index and is ignored", source, name);
    }
  }
}

bool WeightFiles::looks_like_weights(std::string_view file_name) {
  constexpr std::array<std::string_view, 9> kSuffixes = {
      ".safetensors", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".onnx_data", ".h5", ".msgpack"};
  return file_name != "training_args.bin" &&
         std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return file_name.ends_with(suffix); });
}

Result<WeightFiles> WeightFiles::open(const fs::path& path) {
  auto directory = ModelDirectory::open(path);
  if (!directory) return forward_error(directory);
  auto state = std::make_shared<State>();
  if (directory->has_file(kSingleFile)) {
    if (directory->has_file(kIndexFile)) {
      log_warning("[weights] {}: {} is used, {} is ignored", path.string(), kSingleFile,
                  kIndexFile);
    }
    auto file = SafetensorsFile::open(path / kSingleFile);
    if (!file) return forward_error(file);
    state->source = file->path().string();
    auto& shard = state->shards[std::string(kSingleFile)];
    shard = std::make_unique<Shard>(*file);
    for (std::string& name : file->names()) state->shard_of.emplace(std::move(name), shard.get());
    return WeightFiles(std::move(state));
  }
  if (!directory->has_file(kIndexFile)) return tl::make_unexpected(no_weights(path));

  state->source = (path / kIndexFile).string();
  auto map = read_weight_index(path / kIndexFile);
  if (!map) return forward_error(map);
  for (const auto& [tensor, shard_name] : *map) {
    auto& shard = state->shards[shard_name];
    if (!shard) shard = std::make_unique<Shard>(path / shard_name);
    state->shard_of.emplace(tensor, shard.get());
  }
  if (auto status = state->check_shards_exist(); !status) return forward_error(status);
  state->report_stale_shards(path);
  return WeightFiles(std::move(state));
}

bool WeightFiles::contains(std::string_view name) const { return state_->shard_of.contains(name); }

Result<std::optional<Tensor>> WeightFiles::find(std::string_view name) const {
  const auto found = state_->shard_of.find(name);
  if (found == state_->shard_of.end()) return std::optional<Tensor>();
  auto file = found->second->file();
  if (!file) return forward_error(file);
  auto tensor = file->find(name);
  if (tensor && !*tensor) {
    return fail(ErrorCode::kMalformed,
                "[weights] {}: weight_map[\"{}\"]: the shard {} does not hold this tensor",
                state_->source, name, file->path().filename().string());
  }
  return tensor;
}

Result<Tensor> WeightFiles::require(std::string_view name) const {
  auto tensor = find(name);
  if (!tensor) return forward_error(tensor);
  if (!*tensor) {
    return fail(ErrorCode::kNotFound, "[weights] {}: tensor \"{}\" is missing", state_->source,
                name);
  }
  return std::move(**tensor);
}

Result<void> WeightFiles::require_all(std::span<const std::string> names) const {
  std::vector<std::string_view> missing;
  for (const std::string& name : names) {
    if (!contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::kNotFound, "[weights] {}: {} tensors are missing: {}", state_->source,
              missing.size(), list_names(missing));
}

const std::string& WeightFiles::source() const { return state_->source; }

fs::path WeightFiles::file_of(std::string_view name) const {
  const auto found = state_->shard_of.find(name);
  return found == state_->shard_of.end() ? fs::path() : found->second->path();
}

std::vector<std::string> WeightFiles::names() const {
  std::vector<std::string> names;
  names.reserve(state_->shard_of.size());
  for (const auto& [name, shard] : state_->shard_of) names.push_back(name);
  return names;
}

std::vector<fs::path> WeightFiles::files() const {
  std::vector<fs::path> paths;
  for (const auto& [name, shard] : state_->shards) paths.push_back(shard->path());
  return paths;
}

Result<std::uint64_t> WeightFiles::total_bytes() const {
  std::uint64_t total = 0;
  for (const auto& [name, shard] : state_->shards) {
    auto file = shard->file();
    if (!file) return forward_error(file);
    total += file->data_bytes();
  }
  return total;
}

}  // namespace lattice
