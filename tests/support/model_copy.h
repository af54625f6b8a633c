#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "support/temp_dir.h"
#include "support/tiny_models.h"

namespace lattice {

/// A model's directory, copied so that a test can change it.
class ModelCopy {
 public:
  explicit ModelCopy(const std::string& tiny_name) { copy(tiny_directory(tiny_name)); }

  /// A copy of any model directory.
  static ModelCopy of(const std::filesystem::path& directory) { return {directory, 0}; }

  const std::filesystem::path& path() const { return dir_.path(); }

  void write(const std::string& file, const std::string& content) const {
    dir_.write(file, content);
  }

  /// Replaces the first `from` of a file.
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string content = read_file(dir_ / file);
    const std::size_t at = content.find(from);
    ASSERT_NE(at, std::string::npos) << file << " holds no " << from;
    write(file, content.replace(at, from.size(), to));
  }

  /// Hides the first member of that name, which the file must tolerate: it gets another name.
  void hide_json_member(const std::string& file, const std::string& key) const {
    replace(file, fmt::format("\"{}\":", key), "\"hidden_by_the_test\":");
  }

 private:
  ModelCopy(const std::filesystem::path& directory, int) { copy(directory); }

  void copy(const std::filesystem::path& directory) const {
    std::filesystem::copy(directory, dir_.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  }

  TempDir dir_;
};

}  // namespace lattice
