#include "io/hub/model_manifest.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/checked_math.h"
#include "io/config_reader.h"
#include "io/hub/repo_name.h"
#include "io/json_text.h"

namespace lattice {
namespace {

constexpr std::int64_t kFormat = 1;

Result<ManifestFile> parse_file(const Json& value, const std::string& source) {
  ConfigReader reader(value, source + ": files");
  ManifestFile file;
  file.path = reader.require_string("path");
  file.bytes = static_cast<std::uint64_t>(
      reader.require_int("bytes", 0, std::numeric_limits<std::int64_t>::max()));
  file.sha256 = reader.require_string("sha256");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (!is_safe_relative_path(file.path)) {
    return fail(ErrorCode::kMalformed, "{}: files: path \"{}\" is not a plain relative path",
                source, file.path);
  }
  if (file.sha256.size() != 64 || !is_commit_hash(file.sha256)) {
    return fail(ErrorCode::kMalformed, "{}: files: {}: sha256 is not 64 hexadecimal digits", source,
                file.path);
  }
  return file;
}

}  // namespace

std::uint64_t ModelManifest::total_bytes() const {
  std::uint64_t total = 0;
  for (const ManifestFile& file : files) {
    total = checked_add(total, file.bytes).value_or(std::numeric_limits<std::uint64_t>::max());
  }
  return total;
}

std::string manifest_to_json(const ModelManifest& manifest) {
  std::string out = fmt::format(
      "{{\n  \"format\": {},\n  \"repo\": {},\n  \"revision\": {},\n  \"commit\": {},\n"
      "  \"endpoint\": {},\n  \"pulled_at\": {},\n  \"files\": [",
      kFormat, json_quote(manifest.repo), json_quote(manifest.revision),
      json_quote(manifest.commit), json_quote(manifest.endpoint), json_quote(manifest.pulled_at));
  std::string_view separator = "\n";
  for (const ManifestFile& file : manifest.files) {
    out += fmt::format("{}    {{\"path\": {}, \"bytes\": {}, \"sha256\": {}}}", separator,
                       json_quote(file.path), file.bytes, json_quote(file.sha256));
    separator = ",\n";
  }
  out += "\n  ]\n}\n";
  return out;
}

Result<ModelManifest> parse_manifest(std::string_view text, const std::string& source) {
  const auto document = JsonDocument::parse(text, source);
  if (!document) return tl::make_unexpected(document.error());
  ConfigReader reader(document->root(), source);
  ModelManifest manifest;
  reader.require_int("format", kFormat, kFormat);
  manifest.repo = reader.require_string("repo");
  manifest.revision = reader.require_string("revision");
  manifest.commit = reader.require_string("commit");
  manifest.endpoint = reader.get_string("endpoint", "");
  manifest.pulled_at = reader.get_string("pulled_at", "");
  const Json* files = reader.get("files");
  if (files == nullptr || !files->is_array()) {
    reader.set_error(ErrorCode::kMalformed, source + ": files: expected an array");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (!parse_repo_ref(manifest.repo) || !is_commit_hash(manifest.commit) ||
      !is_valid_revision(manifest.revision)) {
    return fail(ErrorCode::kMalformed, "{}: repo, revision or commit is not a valid name", source);
  }
  std::set<std::string_view> seen;
  manifest.files.reserve(files->items().size());
  for (const Json& item : files->items()) {
    auto file = parse_file(item, source);
    if (!file) return forward_error(file);
    manifest.files.push_back(std::move(*file));
    if (!seen.insert(manifest.files.back().path).second) {
      return fail(ErrorCode::kMalformed, "{}: files: {} occurs twice", source,
                  manifest.files.back().path);
    }
  }
  return manifest;
}

}  // namespace lattice
