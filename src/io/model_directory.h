#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace lattice {

/// Checks a file name that a model's own files mention (a shard in an index, a module's folder):
/// relative, with '/' as separator, and staying below the directory it is relative to. `source`
/// prefixes messages. Errors: kMalformed for an empty name, an absolute path, a ".." component, a
/// backslash or a NUL byte.
Result<void> check_relative_name(std::string_view name, std::string_view source);

/// A model's directory, in which names are looked up path-safely: no name can reach outside it.
/// Symbolic links are followed wherever the user's file system has them, because the Hugging Face
/// cache is made of links that leave the snapshot's directory (../../blobs/...). Immutable.
class ModelDirectory {
 public:
  /// Errors: kNotFound when `path` does not exist, kInvalidArgument when it is not a directory.
  static Result<ModelDirectory> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }

  /// The path of `name` below the directory, whether it exists or not. Errors: see
  /// check_relative_name; `source` is the file that mentions the name.
  Result<std::filesystem::path> resolve(std::string_view name, std::string_view source) const;

  /// The directory of a module, as modules.json gives it: "" (or ".") is the model's own directory.
  /// Errors: kMalformed for an unsafe name, kNotFound when it is no directory.
  Result<ModelDirectory> subdirectory(std::string_view name, std::string_view source) const;

  /// Whether `name` is a regular file (or a link to one) in the directory. `name` is our own
  /// constant, such as "config.json".
  bool has_file(std::string_view name) const;

 private:
  explicit ModelDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace lattice
