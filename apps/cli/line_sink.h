#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "lattice/error.h"

namespace lattice::cli {

/// Where a verb's lines go, in order. Throws LatticeError(kIo) when writing fails.
class LineSink {
 public:
  LineSink() = default;
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;
  virtual ~LineSink() = default;
  /// `line` ends with its newline.
  virtual void write(const std::string& line) = 0;
  /// Lines written so far are on their way to the file.
  virtual void flush() = 0;
  /// All lines are written: makes the output complete.
  virtual void finish() = 0;
  /// Lines that an interrupted run had finished (always 0 unless resumed).
  virtual std::size_t rows_done() const { return 0; }
};

/// Standard output. A reader that went away (head) ends the program quietly.
std::unique_ptr<LineSink> open_stdout_lines();

/// A file, complete or not there: see PartFile for `identity` and `resume`.
std::unique_ptr<LineSink> open_file_lines(const std::filesystem::path& file,
                                          const std::string& identity, bool resume);

/// Where a verb without NumPy output writes.
struct LineOutputArguments {
  std::string file;    ///< "" for standard output
  std::string format;  ///< "", "jsonl" or "table"
};

/// Adds --output and --format.
void add_line_output(CLI::App& verb, LineOutputArguments& arguments);

/// Whether rows are a table: asked for, or standard output is a terminal.
bool writes_table(const LineOutputArguments& arguments);

std::unique_ptr<LineSink> open_lines(const LineOutputArguments& arguments,
                                     const std::string& identity);

}  // namespace lattice::cli
