#pragma once

#include <filesystem>
#include <string>

namespace lattice::cli {

/// The name of an output file under construction: FILE.part, renamed to FILE when complete, with
/// FILE.part.run beside it naming the run (model, options, input), so that only the same run
/// continues it. The caller writes the part itself.
class PartFile {
 public:
  /// Starts anew, or, with `resume`, finds the unfinished part of the same `identity`. Throws
  /// UsageError when `resume` finds a part of another run or FILE complete, LatticeError(kIo).
  PartFile(const std::filesystem::path& file, const std::string& identity, bool resume);

  const std::filesystem::path& part_path() const { return part_; }
  /// Whether an earlier part is to be continued.
  bool resumed() const { return resumed_; }

  /// Renames the part, which the caller has closed, to FILE. Throws LatticeError(kIo).
  void finish();

 private:
  std::filesystem::path file_;
  std::filesystem::path part_;
  std::filesystem::path run_;
  bool resumed_ = false;
};

}  // namespace lattice::cli
