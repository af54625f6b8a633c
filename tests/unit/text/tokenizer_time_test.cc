#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <filesystem>

#include "lattice/tokenizer.h"
#include "support/small_tokenizers.h"

namespace lattice {
namespace {

// Processor time of this thread: other programs on the machine hardly change it.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string repeat(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

double encode_seconds(const Tokenizer& tokenizer, const std::string& text) {
  const double start = thread_seconds();
  tokenizer.encode(text);
  return thread_seconds() - start;
}

// Eight times the text may take eight times as long, a logarithm and what caches cost; something
// quadratic would take 64 times as long.
void expect_linear(const Tokenizer& tokenizer, std::string_view unit, const std::string& name) {
  constexpr std::size_t kMany = std::size_t{1} << 20;
  const std::string few = repeat(unit, kMany / 8), many = repeat(unit, kMany);
  double few_seconds = 1e9;
  for (int i = 0; i < 3; ++i) few_seconds = std::min(few_seconds, encode_seconds(tokenizer, few));
  const double most = 24 * few_seconds + 0.01;
  // A neighbour that empties the caches can slow one run down, hardly three.
  double many_seconds = 1e9;
  for (int i = 0; i < 3 && many_seconds >= most; ++i) {
    many_seconds = std::min(many_seconds, encode_seconds(tokenizer, many));
  }
  EXPECT_LT(many_seconds, most) << name << ", a mebibyte of \"" << unit << '"';
}

constexpr const char* kUnits[] = {"a",      " ",   "a ",     "\n",         "\u0301", "e\u0301",
                                  "\u65e5", "<",   "\u2581", "\u2581a",    "1",      "'",
                                  "[MASK",  "<< ", "ab",     "\U0001F44D", "x\u00a0"};

TEST(TokenizerTime, SmallTokenizersAreLinear) {
  for (const SmallTokenizer& small : small_tokenizers()) {
    const Tokenizer tokenizer = Tokenizer::from_json(small.json, small.name);
    for (const char* unit : kUnits) expect_linear(tokenizer, unit, small.name);
  }
}

TEST(TokenizerTime, AllMiniLmIsLinear) {
  const Tokenizer tokenizer =
      Tokenizer::from_directory(std::filesystem::path(LATTICE_MODELS_DIR) / "all-MiniLM-L6-v2");
  for (const char* unit : kUnits) expect_linear(tokenizer, unit, "all-MiniLM-L6-v2");
}

}  // namespace
}  // namespace lattice
