#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/output_file.h"

namespace lattice {

/// Bytes of the .npy headers written here, whatever the shape: data starts at a multiple of 64.
inline constexpr std::size_t kNpyHeaderBytes = 128;

/// The header (format version 1.0) of a float32, C-order array [num_rows, num_columns].
/// Source: numpy/lib/format.py.
std::string npy_header(std::int64_t num_rows, std::int64_t num_columns);

/// What the header of an array [num_rows, num_columns] of float32 says.
struct NpyHeader {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
};

/// Reads a header that npy_header() wrote. `source` names the file in messages. Errors: kMalformed
/// when the first kNpyHeaderBytes of `bytes` are anything else.
Result<NpyHeader> parse_npy_header(std::string_view bytes, const std::string& source);

/// Writes rows of float32 to a .npy file [N, num_columns] whose N is known only at the end. The
/// header counts the rows of the last flush(), so that NumPy can load the file at any moment, and a
/// process killed between rows can resume(). Move-only; not thread-safe.
class NpyWriter {
 public:
  /// Starts an empty file, replacing what is there. Errors: kIo.
  static Result<NpyWriter> create(const std::filesystem::path& path, std::int64_t num_columns);

  /// Continues a file of an interrupted run: keeps its complete rows and cuts off a partial last
  /// one; an absent or empty file is started. Errors: kIo, kMalformed when it is another kind of
  /// file, kInvalidArgument when its rows have another length.
  static Result<NpyWriter> resume(const std::filesystem::path& path, std::int64_t num_columns);

  /// Rows given so far, those of the interrupted run included.
  std::int64_t num_rows() const { return num_rows_; }

  /// Keeps only the first `num_rows` rows. Errors: kIo, kInvalidArgument when there are fewer.
  Result<void> truncate(std::int64_t num_rows);

  /// Appends whole rows, row-major. Errors: kIo; kInvalidArgument when `values` is not a multiple
  /// of num_columns long.
  Result<void> append(std::span<const float> values);

  /// Hands all rows to the operating system and counts them in the header. Errors: kIo.
  Result<void> flush();

  /// Flushes, syncs to disk and closes; nothing else may be called afterwards. Errors: kIo.
  Result<void> finish();

 private:
  NpyWriter(OutputFile file, std::int64_t num_columns)
      : file_(std::move(file)), num_columns_(num_columns) {}
  Result<void> write_buffer();

  OutputFile file_;
  std::int64_t num_columns_;
  std::int64_t num_rows_ = 0;
  std::vector<float> buffer_;  // rows not yet written
};

}  // namespace lattice
