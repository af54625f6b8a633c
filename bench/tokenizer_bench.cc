// How fast one thread encodes, in processor time.
//
//   tokenizer_bench TOKENIZER_JSON TEXTS_JSONL [--serve] [--offsets] [--seconds S]
//
// TEXTS_JSONL holds one {"text": ...} a line. Prints the throughput of several passes over all
// texts. With --serve it answers every line of standard input with the seconds and the number of
// tokens of one pass, which is how bench/peers/tokenizer_peers.py takes turns with it.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "bench_main.h"
#include "io/json.h"
#include "lattice/tokenizer.h"

namespace lattice {
namespace {

struct Arguments {
  std::string tokenizer, texts;
  bool serve = false;
  bool offsets = false;
  double seconds = 3;
};

struct Pass {
  double seconds = 0;
  std::size_t tokens = 0;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) raise(ErrorCode::kNotFound, "{}: cannot be read", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> read_texts(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    const JsonDocument row = value_or_throw(JsonDocument::parse(line, path));
    const Json* text = row.root().find("text");
    if (text != nullptr) texts.emplace_back(text->as_string().value_or(""));
  }
  if (texts.empty()) raise(ErrorCode::kNotFound, "{}: no texts", path);
  return texts;
}

// Processor time of this thread, which other programs on the machine disturb least.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Pass run_pass(const Tokenizer& tokenizer, const std::vector<std::string>& texts, bool offsets) {
  const EncodeOptions options = {.with_offsets = offsets};
  Pass pass;
  const double start = thread_seconds();
  for (const std::string& text : texts) pass.tokens += tokenizer.encode(text, options).ids.size();
  pass.seconds = thread_seconds() - start;
  return pass;
}

void serve(const Tokenizer& tokenizer, const std::vector<std::string>& texts, bool offsets) {
  for (std::string line; std::getline(std::cin, line);) {
    const Pass pass = run_pass(tokenizer, texts, offsets);
    std::cout << pass.seconds << ' ' << pass.tokens << std::endl;
  }
}

void measure(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
             const Arguments& arguments) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  std::vector<double> seconds;
  double total = 0;
  std::size_t tokens = 0;
  while (seconds.size() < 5 || total < arguments.seconds) {
    const Pass pass = run_pass(tokenizer, texts, arguments.offsets);
    seconds.push_back(pass.seconds);
    total += pass.seconds;
    tokens = pass.tokens;
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("%zu texts, %zu bytes, %zu tokens: %.1f MB/s, %.2f M tokens/s (median of %zu)\n",
              texts.size(), bytes, tokens, static_cast<double>(bytes) / median / 1e6,
              static_cast<double>(tokens) / median / 1e6, seconds.size());
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--serve") {
      arguments.serve = true;
    } else if (word == "--offsets") {
      arguments.offsets = true;
    } else if (word == "--seconds" && i + 1 < argc) {
      arguments.seconds = std::stod(argv[++i]);
    } else {
      paths.push_back(word);
    }
  }
  if (paths.size() != 2) {
    raise(ErrorCode::kInvalidArgument,
          "usage: tokenizer_bench TOKENIZER_JSON TEXTS_JSONL [--serve] [--offsets] [--seconds S]");
  }
  arguments.tokenizer = paths[0];
  arguments.texts = paths[1];
  return arguments;
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const Tokenizer tokenizer =
      Tokenizer::from_json(read_file(arguments.tokenizer), arguments.tokenizer);
  const auto texts = read_texts(arguments.texts);
  if (arguments.serve) {
    serve(tokenizer, texts, arguments.offsets);
  } else {
    measure(tokenizer, texts, arguments);
  }
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::bench_main(lattice::run, argc, argv); }
