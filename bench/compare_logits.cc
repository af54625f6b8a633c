// A language model's last logits beside those that transformers computed
// (tools/golden/qwen3_5_full.py logits, lengths in rising order).
//
//   compare_logits MODEL LOGITS.safetensors [DTYPE...]      (default f32)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model_impl.h"
#include "io/safetensors.h"

namespace lattice {
namespace {

struct Prompt {
  std::vector<std::int32_t> ids;
  std::vector<float> logits;
};

std::vector<Prompt> read_prompts(const SafetensorsFile& file) {
  std::vector<Prompt> prompts;
  for (const std::string& name : file.names()) {
    if (!name.starts_with("ids.")) continue;
    const Tensor tensor = value_or_throw(file.require(name));
    Prompt prompt;
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i) {
      std::int64_t id = 0;
      std::memcpy(&id, tensor.bytes().data() + i * 8, sizeof(id));
      prompt.ids.push_back(static_cast<std::int32_t>(id));
    }
    prompts.push_back(std::move(prompt));
  }
  std::ranges::sort(prompts, {}, [](const Prompt& prompt) { return prompt.ids.size(); });
  const Tensor logits = value_or_throw(file.require("logits"));
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].logits.resize(static_cast<std::size_t>(logits.dim(1)));
    logits.copy_to_f32(static_cast<std::int64_t>(i) * logits.dim(1), prompts[i].logits);
  }
  return prompts;
}

void compare(const std::string& dtype, const LanguageModel& model, const Prompt& prompt) {
  constexpr std::size_t kPassTokens = 512;
  const std::unique_ptr<DecoderState> state = model.make_state();
  std::vector<float> got;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t begin = 0; begin < prompt.ids.size(); begin += kPassTokens) {
    const auto part =
        std::span(prompt.ids).subspan(begin, std::min(kPassTokens, prompt.ids.size() - begin));
    const bool last = begin + part.size() == prompt.ids.size();
    const LanguageModel::Input input{part, state.get(), last ? 1 : 0};
    model.forward({&input, 1}, got);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  double dot = 0.0;
  double mine = 0.0;
  double theirs = 0.0;
  double worst = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = static_cast<double>(got[i]);
    const auto b = static_cast<double>(prompt.logits[i]);
    dot += a * b;
    mine += a * a;
    theirs += b * b;
    worst = std::max(worst, std::abs(a - b));
  }
  const bool same = std::ranges::max_element(got) - got.begin() ==
                    std::ranges::max_element(prompt.logits) - prompt.logits.begin();
  std::printf("%-5s %6zu tokens: cosine %.9f, greatest difference %.2e, argmax %s, %.1f s\n",
              dtype.c_str(), prompt.ids.size(), dot / std::sqrt(mine * theirs), worst,
              same ? "same" : "other", seconds.count());
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: compare_logits MODEL LOGITS.safetensors [DTYPE...]\n");
    return 2;
  }
  std::vector<std::string> dtypes(argv + 3, argv + argc);
  if (dtypes.empty()) dtypes = {"f32"};
  const std::vector<Prompt> prompts = read_prompts(value_or_throw(SafetensorsFile::open(argv[2])));
  for (const std::string& dtype : dtypes) {
    const Model model = Model::from_directory(argv[1], {.dtype = dtype});
    for (const Prompt& prompt : prompts) compare(dtype, model.impl().generator().model(), prompt);
  }
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::run(argc, argv); }
