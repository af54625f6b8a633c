#include "text_input.h"

#include <iostream>

#include "cli.h"
#include "io/json.h"

namespace lattice::cli {
namespace {

Result<std::string> string_field(const Json& row, const std::string& name,
                                 const std::string& where) {
  const Json* field = row.find(name);
  if (field == nullptr) return fail(ErrorCode::kMalformed, "{}: no field \"{}\"", where, name);
  const auto text = field->as_string();
  if (!text) {
    return fail(ErrorCode::kMalformed, "{}: {}: expected a string, got {}", where, name,
                field->kind_name());
  }
  return std::string(*text);
}

}  // namespace

void add_text_input(CLI::App& verb, TextInputArguments& arguments) {
  verb.add_option("TEXT", arguments.texts, "Texts");
  verb.add_option("--input", arguments.file, "Read texts from FILE, or - for standard input")
      ->type_name("FILE");
  verb.add_option("--input-format", arguments.format,
                  "txt (a text per line) or jsonl; default: by extension, else txt")
      ->check(CLI::IsMember({"txt", "jsonl"}));
  verb.add_option("--field", arguments.field, "Field of a jsonl row that holds the text")
      ->capture_default_str();
}

TextInput::TextInput(const TextInputArguments& arguments) : arguments_(arguments) {
  if (arguments_.file.empty()) {
    if (!arguments_.pair_field.empty()) throw UsageError("--pair-field needs --input FILE");
    if (arguments_.texts.empty()) throw UsageError("expected texts, or --input FILE");
    return;
  }
  if (!arguments_.texts.empty()) throw UsageError("texts and --input exclude each other");
  jsonl_ = arguments_.format == "jsonl" ||
           (arguments_.format.empty() &&
            (arguments_.file.ends_with(".jsonl") || arguments_.file.ends_with(".ndjson")));
  if (!arguments_.pair_field.empty() && !jsonl_) throw UsageError("--pair-field needs jsonl rows");
  if (arguments_.file == "-") {
    std::ios::sync_with_stdio(false);
    stream_ = &std::cin;
    return;
  }
  file_.open(arguments_.file, std::ios::binary);
  if (!file_) raise(ErrorCode::kIo, "{}: cannot open", arguments_.file);
  stream_ = &file_;
}

std::optional<Result<TextPair>> TextInput::next() {
  if (stream_ == nullptr) {
    if (row_ == arguments_.texts.size()) return std::nullopt;
    return TextPair{arguments_.texts[row_++]};
  }
  std::string line;
  if (!std::getline(*stream_, line)) {
    if (stream_->bad()) raise(ErrorCode::kIo, "{}: reading failed", arguments_.file);
    return std::nullopt;
  }
  ++row_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (!jsonl_) return TextPair{std::move(line)};
  return parse_row(line);
}

Result<TextPair> TextInput::parse_row(const std::string& line) const {
  const std::string where = fmt::format("{}: line {}", arguments_.file, row_);
  auto document = JsonDocument::parse(line, where);
  if (!document) return forward_error(document);
  TextPair row;
  auto text = string_field(document->root(), arguments_.field, where);
  if (!text) return forward_error(text);
  row.text = *std::move(text);
  if (arguments_.pair_field.empty()) return row;
  auto pair = string_field(document->root(), arguments_.pair_field, where);
  if (!pair) return forward_error(pair);
  row.pair = *std::move(pair);
  return row;
}

bool read_chunk(TextInput& input, TextChunk& chunk) {
  constexpr std::size_t kMaxRows = 1024;
  constexpr std::size_t kMaxBytes = std::size_t{8} << 20;
  chunk = {};
  std::size_t bytes = 0;
  while (chunk.texts.size() < kMaxRows && bytes < kMaxBytes) {
    auto row = input.next();
    if (!row) break;
    if (row->has_value()) {
      bytes += (*row)->text.size() + (*row)->pair.value_or("").size();
      chunk.texts.push_back(std::move(**row));
      chunk.errors.emplace_back();
    } else {
      chunk.texts.emplace_back();
      chunk.errors.push_back(std::move(row->error()));
    }
  }
  return !chunk.texts.empty();
}

}  // namespace lattice::cli
