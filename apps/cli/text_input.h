#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/result.h"
#include "lattice/scoring.h"

namespace lattice::cli {

/// Where a verb's texts come from: its arguments, or a file read row by row in bounded memory.
struct TextInputArguments {
  std::vector<std::string> texts;
  std::string file;    ///< "" for the arguments, "-" for standard input
  std::string format;  ///< "", "txt" or "jsonl"
  std::string field = "text";
  std::string pair_field;  ///< of the second text of a jsonl row; "": rows are single texts
};

/// Adds TEXT..., --input, --input-format and --field.
void add_text_input(CLI::App& verb, TextInputArguments& arguments);

/// Reads rows one at a time. Lines end with "\n" or "\r\n"; a txt row is the whole line, empty
/// lines included; a jsonl row is the string in the chosen field, and blank lines are refused.
class TextInput {
 public:
  /// Throws UsageError for contradicting arguments, LatticeError when the file cannot be opened.
  explicit TextInput(const TextInputArguments& arguments);

  /// The next row, its error, or nothing at the end. Throws LatticeError(kIo) when reading fails.
  std::optional<Result<TextPair>> next();

 private:
  Result<TextPair> parse_row(const std::string& line) const;

  TextInputArguments arguments_;
  bool jsonl_ = false;
  std::ifstream file_;
  std::istream* stream_ = nullptr;  // none: the arguments
  std::size_t row_ = 0;
};

/// Some rows of an input, each a text or an error.
struct TextChunk {
  std::vector<TextPair> texts;  ///< empty where there is an error
  std::vector<std::optional<Error>> errors;
};

/// Reads as many rows as fill batches of similar lengths and yet bound memory. False at the end.
bool read_chunk(TextInput& input, TextChunk& chunk);

}  // namespace lattice::cli
