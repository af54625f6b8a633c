#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lattice {

/// A file of a repository as the hub describes it.
struct HubFile {
  std::string path;  ///< path-safe (is_safe_relative_path)
  bool has_bytes = false;
  std::uint64_t bytes = 0;
  std::string sha256;    ///< of a large (LFS or Xet) file's content; else empty
  std::string git_sha1;  ///< git's blob id of a small file; empty for large ones

  /// Whether a download can be verified from this description.
  bool verifiable() const { return has_bytes && (!sha256.empty() || !git_sha1.empty()); }
};

/// A repository at one commit.
struct HubModelInfo {
  std::string commit;
  std::map<std::string, HubFile, std::less<>> files;  ///< by path
};

/// Largest file and number of files that are accepted from a hub.
inline constexpr std::uint64_t kMaxHubFileBytes = std::uint64_t{1} << 40;
inline constexpr std::size_t kMaxHubFiles = 100'000;

/// Parses the hub's answer to GET /api/models/{repo}/revision/{revision}?blobs=true. File names
/// that would leave the model's directory are an error; other names that cannot be used
/// (backslashes, over-long) are left out. `source` names the answer in messages. Errors:
/// kMalformed. Source: https://huggingface.co/docs/hub/api
Result<HubModelInfo> parse_model_info(std::string_view text, const std::string& source);

/// One entry of modules.json (sentence-transformers).
struct HubModule {
  std::string
      folder;  ///< "" is the model's own directory; otherwise path-safe, without a final '/'
  bool is_transformer = false;
};

/// Parses a modules.json. Errors: kMalformed.
Result<std::vector<HubModule>> parse_modules(std::string_view text, const std::string& source);

/// `folder`/`name`, or `name` for the empty folder.
std::string join_folder(std::string_view folder, std::string_view name);

/// The configuration and tokenizer files below the model's own directory and the modules' folders,
/// with the index of sharded weights where there is no single file. Sorted by path.
std::vector<HubFile> select_configs(const HubModelInfo& info,
                                    const std::vector<HubModule>& modules);

/// The weights of one folder: model.safetensors, else exactly the shards that `index_text` (the
/// content of model.safetensors.index.json, or "") names, else none. Errors: kMalformed for a bad
/// index, kNotFound listing shards that the repository lacks.
Result<std::vector<HubFile>> select_weights(const HubModelInfo& info, std::string_view folder,
                                            std::string_view index_text);

/// Weights of a folder in formats that lattice does not read, for messages: "pytorch_model.bin".
std::vector<std::string> foreign_weights(const HubModelInfo& info, std::string_view folder);

}  // namespace lattice
