#include "embed_sink.h"

#include <unistd.h>

#include "base/result.h"
#include "cli.h"
#include "device_report.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "line_sink.h"
#include "part_file.h"
#include "row_error.h"

namespace lattice::cli {
namespace {

std::string json_line(const EmbeddedRow& row) {
  JsonWriter json;
  json.begin_object().field("index", row.index);
  if (row.error != nullptr) {
    add_row_error(json, *row.error);
  } else {
    json.field("tokens", row.num_tokens).field("truncated", row.truncated);
    add_other_device(json, row.other_device);
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
  std::string line =
      fmt::format("{:>6}  {:>5} tokens{}{}  [", row.index, row.num_tokens,
                  row.truncated ? " (truncated)" : "", other_device_note(row.other_device));
  const std::size_t shown = std::min(kShown, row.embedding.size());
  for (std::size_t i = 0; i < shown; ++i) {
    line += fmt::format("{}{:.4f}", i == 0 ? "" : ", ", row.embedding[i]);
  }
  if (shown < row.embedding.size()) line += fmt::format(", ... {} values", row.embedding.size());
  return line + "]\n";
}

/// Formatted rows, as lines.
class TextSink final : public EmbedSink {
 public:
  TextSink(std::unique_ptr<LineSink> lines, std::string (*format)(const EmbeddedRow&))
      : lines_(std::move(lines)), format_(format) {}

  void write(const EmbeddedRow& row) override { lines_->write(format_(row)); }
  void flush() override { lines_->flush(); }
  void finish() override { lines_->finish(); }
  std::size_t rows_done() const override { return lines_->rows_done(); }

 private:
  std::unique_ptr<LineSink> lines_;
  std::string (*format_)(const EmbeddedRow&);
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
    return std::make_unique<TextSink>(open_stdout_lines(), line_format);
  }
  const std::string run = fmt::format("{}\nformat {}\n", identity, format);
  if (format == "npy") return std::make_unique<NpySink>(arguments, run, dimensions);
  return std::make_unique<TextSink>(open_file_lines(arguments.file, run, arguments.resume),
                                    line_format);
}

bool writes_npy(const EmbedOutputArguments& arguments) { return output_format(arguments) == "npy"; }

}  // namespace lattice::cli
