#include "text_input.h"

#include <iostream>

#include "cli.h"
#include "io/json.h"

namespace lattice::cli {

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
    if (arguments_.texts.empty()) throw UsageError("expected texts, or --input FILE");
    return;
  }
  if (!arguments_.texts.empty()) throw UsageError("texts and --input exclude each other");
  jsonl_ = arguments_.format == "jsonl" ||
           (arguments_.format.empty() &&
            (arguments_.file.ends_with(".jsonl") || arguments_.file.ends_with(".ndjson")));
  if (arguments_.file == "-") {
    std::ios::sync_with_stdio(false);
    stream_ = &std::cin;
    return;
  }
  file_.open(arguments_.file, std::ios::binary);
  if (!file_) raise(ErrorCode::kIo, "{}: cannot open", arguments_.file);
  stream_ = &file_;
}

std::optional<Result<std::string>> TextInput::next() {
  if (stream_ == nullptr) {
    if (row_ == arguments_.texts.size()) return std::nullopt;
    return arguments_.texts[row_++];
  }
  std::string line;
  if (!std::getline(*stream_, line)) {
    if (stream_->bad()) raise(ErrorCode::kIo, "{}: reading failed", arguments_.file);
    return std::nullopt;
  }
  ++row_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (!jsonl_) return line;
  return parse_row(line);
}

Result<std::string> TextInput::parse_row(const std::string& line) const {
  const std::string where = fmt::format("{}: line {}", arguments_.file, row_);
  auto document = JsonDocument::parse(line, where);
  if (!document) return forward_error(document);
  const Json* field = document->root().find(arguments_.field);
  if (field == nullptr) {
    return fail(ErrorCode::kMalformed, "{}: no field \"{}\"", where, arguments_.field);
  }
  const auto text = field->as_string();
  if (!text) {
    return fail(ErrorCode::kMalformed, "{}: {}: expected a string, got {}", where, arguments_.field,
                field->kind_name());
  }
  return std::string(*text);
}

}  // namespace lattice::cli
