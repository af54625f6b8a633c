#include "io/hub/hub_api.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "io/config_reader.h"
#include "io/hub/repo_name.h"
#include "io/weight_index.h"

namespace lattice {
namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";
constexpr std::size_t kMaxModules = 64;
constexpr std::size_t kMaxShards = 4096;

constexpr std::array<std::string_view, 14> kConfigNames = {
    "config.json",
    "generation_config.json",
    "inference_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
};

bool is_config_name(std::string_view name) {
  if (name.starts_with("sentence_") && name.ends_with("_config.json")) return true;
  return std::ranges::find(kConfigNames, name) != kConfigNames.end();
}

/// Whether an unusable name looks like an attempt to reach outside a directory.
bool is_hostile_path(std::string_view path) {
  if (path.starts_with('/') || path.starts_with('\\')) return true;
  std::string with_slashes(path);
  std::ranges::replace(with_slashes, '\\', '/');
  return ("/" + with_slashes + "/").find("/../") != std::string::npos ||
         std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && is_commit_hash(text);
}

/// Reads a size when it is given.
void read_bytes(ConfigReader& reader, HubFile& file) {
  if (!reader.has("size")) return;
  file.bytes = static_cast<std::uint64_t>(
      reader.require_int("size", 0, static_cast<std::int64_t>(kMaxHubFileBytes)));
  file.has_bytes = true;
}

Result<HubFile> parse_sibling(const Json& value, const std::string& source) {
  ConfigReader name_reader(value, source + ": siblings");
  HubFile file;
  file.path = name_reader.require_string("rfilename");
  if (auto status = name_reader.finish(); !status) return forward_error(status);
  ConfigReader reader(value, fmt::format("{}: {}", source, printable_excerpt(file.path)));
  read_bytes(reader, file);
  const std::string blob = reader.get_string("blobId", "");
  const Json* lfs = reader.get("lfs");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (lfs == nullptr) {
    if (!blob.empty() && !is_hex(blob, 40)) {
      return fail(ErrorCode::kMalformed, "{}: blobId is not 40 hexadecimal digits",
                  reader.source());
    }
    file.git_sha1 = blob;
    return file;
  }
  ConfigReader lfs_reader(*lfs, reader.source() + ": lfs");
  file.sha256 = lfs_reader.get_string("sha256", "");
  read_bytes(lfs_reader, file);
  if (auto status = lfs_reader.finish(); !status) return forward_error(status);
  if (!file.sha256.empty() && !is_hex(file.sha256, 64)) {
    return fail(ErrorCode::kMalformed, "{}: sha256 is not 64 hexadecimal digits",
                lfs_reader.source());
  }
  return file;
}

/// The part of `path` inside `folder`, when it is directly there.
std::string_view name_in_folder(std::string_view path, std::string_view folder) {
  if (!folder.empty()) {
    if (!path.starts_with(folder) || path.size() <= folder.size() || path[folder.size()] != '/') {
      return {};
    }
    path.remove_prefix(folder.size() + 1);
  }
  return path.find('/') == path.npos ? path : std::string_view();
}

bool has_file(const HubModelInfo& info, std::string_view folder, std::string_view name) {
  return info.files.contains(join_folder(folder, name));
}

}  // namespace

std::string join_folder(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

Result<HubModelInfo> parse_model_info(std::string_view text, const std::string& source) {
  const auto document = JsonDocument::parse(text, source);
  if (!document) return tl::make_unexpected(document.error());
  ConfigReader reader(document->root(), source);
  HubModelInfo info;
  info.commit = reader.require_string("sha");
  const Json* siblings = reader.get("siblings");
  if (siblings == nullptr || !siblings->is_array()) {
    reader.set_error(ErrorCode::kMalformed, source + ": siblings: expected an array of files");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (!is_commit_hash(info.commit)) {
    return fail(ErrorCode::kMalformed, "{}: sha: expected a commit hash, got \"{}\"", source,
                printable_excerpt(info.commit));
  }
  if (siblings->items().size() > kMaxHubFiles) {
    return fail(ErrorCode::kMalformed, "{}: {} files exceed the limit of {}", source,
                siblings->items().size(), kMaxHubFiles);
  }
  for (const Json& item : siblings->items()) {
    auto file = parse_sibling(item, source);
    if (!file) return forward_error(file);
    if (!is_safe_relative_path(file->path)) {
      if (!is_hostile_path(file->path)) continue;
      return fail(ErrorCode::kMalformed,
                  "{}: refused the file name \"{}\": it leaves the directory", source,
                  printable_excerpt(file->path));
    }
    const std::string path = file->path;
    if (!info.files.emplace(path, std::move(*file)).second) {
      return fail(ErrorCode::kMalformed, "{}: \"{}\" occurs twice", source, path);
    }
  }
  return info;
}

Result<std::vector<HubModule>> parse_modules(std::string_view text, const std::string& source) {
  const auto document = JsonDocument::parse(text, source);
  if (!document) return tl::make_unexpected(document.error());
  const Json& root = document->root();
  if (!root.is_array() || root.items().size() > kMaxModules) {
    return fail(ErrorCode::kMalformed, "{}: expected an array of at most {} modules", source,
                kMaxModules);
  }
  std::vector<HubModule> modules;
  for (const Json& item : root.items()) {
    ConfigReader reader(item, source);
    HubModule module;
    module.folder = reader.get_string("path", "");
    const std::string type = reader.get_string("type", "");
    if (auto status = reader.finish(); !status) return forward_error(status);
    while (module.folder.ends_with('/')) module.folder.pop_back();
    if (module.folder == ".") module.folder.clear();
    if (!module.folder.empty() && !is_safe_relative_path(module.folder)) {
      return fail(ErrorCode::kMalformed, "{}: refused the folder \"{}\": it leaves the directory",
                  source, printable_excerpt(module.folder));
    }
    const std::size_t dot = type.rfind('.');
    module.is_transformer = type.substr(dot == type.npos ? 0 : dot + 1) == "Transformer";
    modules.push_back(std::move(module));
  }
  return modules;
}

std::vector<HubFile> select_configs(const HubModelInfo& info,
                                    const std::vector<HubModule>& modules) {
  std::set<std::string_view> folders = {""};
  for (const HubModule& module : modules) folders.insert(module.folder);
  std::vector<HubFile> selected;
  for (const auto& [path, file] : info.files) {
    for (const std::string_view folder : folders) {
      const std::string_view name = name_in_folder(path, folder);
      if (name.empty()) continue;
      const bool index = name == kIndexFile && !has_file(info, folder, kSingleFile);
      if (index || is_config_name(name)) selected.push_back(file);
    }
  }
  return selected;
}

Result<std::vector<HubFile>> select_weights(const HubModelInfo& info, std::string_view folder,
                                            std::string_view index_text) {
  std::set<std::string> names;
  if (has_file(info, folder, kSingleFile)) {
    names.insert(join_folder(folder, kSingleFile));
  } else if (!index_text.empty()) {
    const auto map = parse_weight_index(index_text, join_folder(folder, kIndexFile));
    if (!map) return tl::make_unexpected(map.error());
    for (const auto& [tensor, shard] : *map) names.insert(join_folder(folder, shard));
  }
  if (names.size() > kMaxShards) {
    return fail(ErrorCode::kMalformed, "{}: {} shards exceed the limit of {}",
                join_folder(folder, kIndexFile), names.size(), kMaxShards);
  }
  std::vector<HubFile> selected;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const auto found = info.files.find(name);
    if (found == info.files.end()) {
      missing.push_back(printable_excerpt(name));
    } else {
      selected.push_back(found->second);
    }
  }
  if (!missing.empty()) {
    return fail(ErrorCode::kNotFound, "{} names shards that the repository lacks: {}",
                join_folder(folder, kIndexFile), fmt::join(missing, ", "));
  }
  return selected;
}

std::vector<std::string> foreign_weights(const HubModelInfo& info, std::string_view folder) {
  std::vector<std::string> found;
  for (const auto& [path, file] : info.files) {
    const std::string_view name = name_in_folder(path, folder);
    const bool foreign = name.ends_with(".bin") || name.ends_with(".gguf") ||
                         name.ends_with(".onnx") || name.ends_with(".h5") ||
                         name.ends_with(".safetensors") || name.ends_with(".msgpack");
    if (foreign && name != "training_args.bin") found.push_back(path);
  }
  return found;
}

}  // namespace lattice
