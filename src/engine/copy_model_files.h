#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lattice {

/// Which files of a model's directory to copy.
struct ModelFilesToCopy {
  std::filesystem::path source;
  std::filesystem::path target;  ///< a directory that exists
  /// Files that somebody else writes, relative to `source`.
  std::set<std::filesystem::path> replaced;
  /// Folders of modules after the first, relative to `source`: weights in them are the modules'
  /// own.
  std::set<std::filesystem::path> module_folders;
};

/// Copies the content of the files below `source`, following symbolic links, and syncs it to disk.
/// Left out are hidden files and folders, `replaced`, and files named like weights (WeightFiles::
/// looks_like_weights) outside `module_folders`, which are returned, sorted. Throws LatticeError:
/// kIo; kUnsupported for what is neither file nor folder, and folders nested deeper than 16.
std::vector<std::string> copy_model_files(const ModelFilesToCopy& files);

}  // namespace lattice
