#include "fuzz_support.h"
#include "io/hub/hub_api.h"
#include "io/hub/model_manifest.h"
#include "io/hub/repo_name.h"
#include "io/hub/url_origin.h"

namespace lattice {
namespace {

/// A hub's description of a repository, and what would be fetched by it: no name leaves the
/// directory, no size or digest is out of bounds.
void check_info(std::string_view text) {
  const auto info = parse_model_info(text, "hub");
  if (!info) {
    fuzz_check(info.error().message.starts_with("hub"));
    return;
  }
  fuzz_check(is_commit_hash(info->commit));
  for (const auto& [path, file] : info->files) {
    fuzz_check(path == file.path && is_safe_relative_path(path));
    fuzz_check(file.bytes <= kMaxHubFileBytes);
    fuzz_check(file.sha256.empty() || is_commit_hash(file.sha256));
    fuzz_check(file.git_sha1.empty() || is_commit_hash(file.git_sha1));
  }
  const std::vector<HubModule> modules = {{"", true}, {"1_Pooling", false}};
  fuzz_check(select_configs(*info, modules).size() <= info->files.size());
  const std::string index = R"({"weight_map":{"a":"model-1.safetensors"}})";
  if (const auto weights = select_weights(*info, "", index)) {
    for (const HubFile& file : *weights) fuzz_check(info->files.contains(file.path));
  }
  foreign_weights(*info, "1_Pooling");
}

void check_modules(std::string_view text) {
  const auto modules = parse_modules(text, "modules.json");
  if (!modules) return;
  for (const HubModule& module : *modules) {
    fuzz_check(module.folder.empty() || is_safe_relative_path(module.folder));
  }
}

/// What a manifest holds survives being written and read again.
void check_manifest(std::string_view text) {
  const auto manifest = parse_manifest(text, "manifest");
  if (!manifest) return;
  for (const ManifestFile& file : manifest->files) fuzz_check(is_safe_relative_path(file.path));
  const std::string written = manifest_to_json(*manifest);
  const auto again = parse_manifest(written, "manifest");
  fuzz_check(again.has_value() && manifest_to_json(*again) == written);
}

/// Names and addresses, which are plain text.
void check_names(std::string_view text) {
  if (const auto ref = parse_repo_ref(text)) {
    fuzz_check(ref->to_string() == text);
    const std::string directory = repo_directory_name(ref->repo);
    fuzz_check(is_safe_relative_path(directory) && directory.find('/') == directory.npos);
    const auto back = repo_of_directory_name(directory);
    fuzz_check(back.has_value() && *back == ref->repo);
  }
  fuzz_check(percent_decode(percent_encode(text)) == text);
  if (const auto origin = parse_url_origin(text)) fuzz_check(!origin->host.empty());
  fuzz_check(printable_excerpt(text, 10).size() <= 13);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = lattice::fuzz_text(data, size);
  lattice::check_info(text);
  lattice::check_modules(text);
  lattice::check_manifest(text);
  lattice::check_names(text);
  return 0;
}
