#include "embed_sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/result.h"
#include "cli.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "part_file.h"

namespace lattice::cli {
namespace {

std::string json_line(const EmbeddedRow& row) {
  JsonWriter json;
  json.begin_object().field("index", row.index);
  if (row.error != nullptr) {
    json.key("error").begin_object();
    json.field("code", error_code_name(row.error->code)).field("message", row.error->message);
    json.end_object();
  } else {
    json.field("tokens", row.num_tokens).field("truncated", row.truncated);
    json.key("embedding").begin_array();
    for (const float value : row.embedding) json.value(value);
    json.end_array();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string table_line(const EmbeddedRow& row) {
  if (row.error != nullptr) return fmt::format("{:>6}  error: {}\n", row.index, row.error->message);
  constexpr std::size_t kShown = 6;
  std::string line = fmt::format("{:>6}  {:>5} tokens{}  [", row.index, row.num_tokens,
                                 row.truncated ? " (truncated)" : "");
  const std::size_t shown = std::min(kShown, row.embedding.size());
  for (std::size_t i = 0; i < shown; ++i) {
    line += fmt::format("{}{:.4f}", i == 0 ? "" : ", ", row.embedding[i]);
  }
  if (shown < row.embedding.size()) line += fmt::format(", ... {} values", row.embedding.size());
  return line + "]\n";
}

/// Lines to standard output. A reader that went away (head) ends the program quietly.
class StdoutSink final : public EmbedSink {
 public:
  explicit StdoutSink(std::string (*format)(const EmbeddedRow&)) : format_(format) {}

  void write(const EmbeddedRow& row) override {
    const std::string line = format_(row);
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
  std::string (*format_)(const EmbeddedRow&);
};

/// Lines to a file.
class LineFileSink final : public EmbedSink {
 public:
  LineFileSink(const EmbedOutputArguments& arguments, const std::string& identity,
               std::string (*format)(const EmbeddedRow&))
      : file_(arguments.file, identity, arguments.resume), format_(format) {
    if (file_.resumed()) keep_whole_lines();
    stream_.open(file_.part_path(), std::ios::binary | std::ios::app);
    check_written();
  }

  void write(const EmbeddedRow& row) override {
    stream_ << format_(row);
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
  std::string (*format_)(const EmbeddedRow&);
  std::ofstream stream_;
  std::size_t rows_done_ = 0;
};

/// A NumPy file [rows, dimensions] of float32.
class NpySink final : public EmbedSink {
 public:
  NpySink(const EmbedOutputArguments& arguments, const std::string& identity,
          std::size_t dimensions)
      : file_(arguments.file, identity, arguments.resume),
        writer_(value_or_throw(open_writer(file_, static_cast<std::int64_t>(dimensions)))),
        rows_done_(static_cast<std::size_t>(writer_.num_rows())) {}

  void write(const EmbeddedRow& row) override { value_or_throw(writer_.append(row.embedding)); }
  void flush() override { value_or_throw(writer_.flush()); }
  void finish() override {
    value_or_throw(writer_.finish());
    file_.finish();
  }
  std::size_t rows_done() const override { return rows_done_; }

 private:
  static Result<NpyWriter> open_writer(const PartFile& file, std::int64_t dimensions) {
    return file.resumed() ? NpyWriter::resume(file.part_path(), dimensions)
                          : NpyWriter::create(file.part_path(), dimensions);
  }

  PartFile file_;
  NpyWriter writer_;
  std::size_t rows_done_;
};

std::string output_format(const EmbedOutputArguments& arguments) {
  if (!arguments.format.empty()) return arguments.format;
  if (arguments.file.ends_with(".npy")) return "npy";
  if (arguments.file.empty() && ::isatty(STDOUT_FILENO) != 0) return "table";
  return "jsonl";
}

}  // namespace

std::unique_ptr<EmbedSink> open_embed_sink(const EmbedOutputArguments& arguments,
                                           const std::string& identity, std::size_t dimensions) {
  const std::string format = output_format(arguments);
  const auto line_format = format == "table" ? table_line : json_line;
  if (arguments.file.empty()) {
    if (format == "npy") throw UsageError("--format npy needs --output FILE");
    if (arguments.resume) throw UsageError("--resume needs --output FILE");
    return std::make_unique<StdoutSink>(line_format);
  }
  const std::string run = fmt::format("{}\nformat {}\n", identity, format);
  if (format == "npy") return std::make_unique<NpySink>(arguments, run, dimensions);
  return std::make_unique<LineFileSink>(arguments, run, line_format);
}

bool writes_npy(const EmbedOutputArguments& arguments) { return output_format(arguments) == "npy"; }

}  // namespace lattice::cli
