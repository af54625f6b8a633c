#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lattice {

/// The manifest's name inside a pulled model's directory.
inline constexpr std::string_view kManifestName = "lattice_manifest.json";

/// One file of a pulled model.
struct ManifestFile {
  std::string path;  ///< relative to the model's directory, with '/'
  std::uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
};

/// What `pull` fetched: written beside the files, last.
struct ModelManifest {
  std::string repo;
  std::string revision;   ///< as asked for: a branch, tag or commit
  std::string commit;     ///< the commit all files are from
  std::string endpoint;   ///< the hub's address
  std::string pulled_at;  ///< UTC, "2026-01-31T12:00:00Z"
  std::vector<ManifestFile> files;

  /// The sum of the files' sizes (saturated).
  std::uint64_t total_bytes() const;
};

/// The manifest as JSON text, one file per line.
std::string manifest_to_json(const ModelManifest& manifest);

/// Parses and checks a manifest: names, commit, paths (is_safe_relative_path, no duplicates) and
/// digests. `source` is its path, for messages. Errors: kMalformed.
Result<ModelManifest> parse_manifest(std::string_view text, const std::string& source);

}  // namespace lattice
