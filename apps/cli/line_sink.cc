#include "line_sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/result.h"
#include "cli.h"
#include "part_file.h"

namespace lattice::cli {
namespace {

/// Lines to standard output. A reader that went away (head) ends the program quietly.
class StdoutLines final : public LineSink {
 public:
  void write(const std::string& line) override {
    check_written(std::fwrite(line.data(), 1, line.size(), stdout) == line.size());
  }
  void flush() override { check_written(std::fflush(stdout) == 0); }
  void finish() override { flush(); }

 private:
  static void check_written(bool written) {
    if (written) return;
    if (errno == EPIPE) throw ExitCode{kSuccess};
    raise(ErrorCode::kIo, "standard output: writing failed: {}", std::strerror(errno));
  }
};

/// Lines to a file.
class FileLines final : public LineSink {
 public:
  FileLines(const std::filesystem::path& file, const std::string& identity, bool resume)
      : file_(file, identity, resume) {
    if (file_.resumed()) keep_whole_lines();
    stream_.open(file_.part_path(), std::ios::binary | std::ios::app);
    check_written();
  }

  void write(const std::string& line) override {
    stream_ << line;
    check_written();
  }
  void flush() override {
    stream_.flush();
    check_written();
  }
  void finish() override {
    stream_.close();
    check_written();
    file_.finish();
  }
  std::size_t rows_done() const override { return rows_done_; }

 private:
  void check_written() const {
    if (!stream_) {
      raise(ErrorCode::kIo, "{}: writing failed: {}", file_.part_path().string(),
            std::strerror(errno));
    }
  }
  // A line without its newline was cut by the interruption.
  void keep_whole_lines() {
    std::ifstream part(file_.part_path(), std::ios::binary);
    std::uint64_t size = 0;
    for (std::string line; std::getline(part, line) && !part.eof(); ++rows_done_) {
      size += line.size() + 1;
    }
    std::filesystem::resize_file(file_.part_path(), size);
  }

  PartFile file_;
  std::ofstream stream_;
  std::size_t rows_done_ = 0;
};

}  // namespace

std::unique_ptr<LineSink> open_stdout_lines() { return std::make_unique<StdoutLines>(); }

std::unique_ptr<LineSink> open_file_lines(const std::filesystem::path& file,
                                          const std::string& identity, bool resume) {
  return std::make_unique<FileLines>(file, identity, resume);
}

void add_line_output(CLI::App& verb, LineOutputArguments& arguments) {
  verb.add_option("--output", arguments.file, "Write to FILE instead of standard output")
      ->type_name("FILE");
  verb.add_option("--format", arguments.format, "jsonl or table; default: table on a terminal")
      ->check(CLI::IsMember({"jsonl", "table"}));
}

bool writes_table(const LineOutputArguments& arguments) {
  if (!arguments.format.empty()) return arguments.format == "table";
  return arguments.file.empty() && ::isatty(STDOUT_FILENO) != 0;
}

std::unique_ptr<LineSink> open_lines(const LineOutputArguments& arguments,
                                     const std::string& identity) {
  if (arguments.file.empty()) return open_stdout_lines();
  return open_file_lines(arguments.file, identity, /*resume=*/false);
}

}  // namespace lattice::cli
