// How far the arithmetic formats of a language model part from f32: for every token of a text, the
// Kullback-Leibler divergence of the next token's distribution, and whether the likeliest token is
// the same.
//
//   logit_agreement MODEL TEXT_FILE [MAX_TOKENS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model_impl.h"

namespace lattice {
namespace {

constexpr std::size_t kPassTokens = 64;

// log softmax in double.
std::vector<double> log_probabilities(std::span<const float> logits) {
  const double max = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  const double offset = max + std::log(sum);
  std::vector<double> result;
  result.reserve(logits.size());
  for (const float logit : logits) result.push_back(static_cast<double>(logit) - offset);
  return result;
}

/// One format beside f32.
struct Comparison {
  explicit Comparison(const std::string& directory, std::string dtype_in)
      : dtype(std::move(dtype_in)),
        model(Model::from_directory(directory, {.dtype = dtype})),
        state(model.impl().generator().model().make_state()) {}

  void feed(std::span<const std::int32_t> ids) {
    const LanguageModel::Input input{ids, state.get(), static_cast<std::int64_t>(ids.size())};
    model.impl().generator().model().forward({&input, 1}, logits);
  }

  void compare(std::size_t row, std::size_t vocab, const std::vector<double>& expected,
               std::ptrdiff_t expected_best) {
    const auto mine = std::span<const float>(logits).subspan(row * vocab, vocab);
    const std::vector<double> got = log_probabilities(mine);
    double divergence = 0.0;
    for (std::size_t i = 0; i < vocab; ++i) {
      divergence += std::exp(expected[i]) * (expected[i] - got[i]);
    }
    total += divergence;
    worst = std::max(worst, divergence);
    same += std::ranges::max_element(mine) - mine.begin() == expected_best ? 1 : 0;
  }

  std::string dtype;
  Model model;
  std::unique_ptr<DecoderState> state;
  std::vector<float> logits;
  double total = 0.0;
  double worst = 0.0;
  std::size_t same = 0;
};

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: logit_agreement MODEL TEXT_FILE [MAX_TOKENS]\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Comparison f32(argv[1], "f32");
  std::vector<std::unique_ptr<Comparison>> others;
  for (const char* dtype : {"bf16", "q8_0"}) {
    others.push_back(std::make_unique<Comparison>(argv[1], dtype));
  }
  std::vector<std::int32_t> ids = f32.model.tokenizer().encode(text).ids;
  if (argc > 3) ids.resize(std::min(ids.size(), static_cast<std::size_t>(std::stoul(argv[3]))));
  const auto vocab = static_cast<std::size_t>(f32.model.impl().generator().model().vocab_size());
  for (std::size_t begin = 0; begin < ids.size(); begin += kPassTokens) {
    const auto part = std::span(ids).subspan(begin, std::min(kPassTokens, ids.size() - begin));
    f32.feed(part);
    for (auto& other : others) other->feed(part);
    for (std::size_t row = 0; row < part.size(); ++row) {
      const auto logits = std::span<const float>(f32.logits).subspan(row * vocab, vocab);
      const std::vector<double> expected = log_probabilities(logits);
      const auto best = std::ranges::max_element(logits) - logits.begin();
      for (auto& other : others) other->compare(row, vocab, expected, best);
    }
  }
  for (const auto& other : others) {
    const auto count = static_cast<double>(ids.size());
    std::printf(
        "%-5s against f32 over %zu tokens: KL mean %.3e, largest %.3e; same token %.2f %%\n",
        other->dtype.c_str(), ids.size(), other->total / count, other->worst,
        100.0 * static_cast<double>(other->same) / count);
  }
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::run(argc, argv); }
