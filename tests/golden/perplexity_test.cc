// Windows over a text: which token is predicted behind which others.
#include "engine/generation/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/generation/logprobs.h"
#include "golden/generator_support.h"

namespace lattice {
namespace {

/// The definition: each token once, behind those that the first window with it begins with.
double expected_loss(const LanguageModel& model, const Ids& ids, std::size_t window,
                     std::size_t stride) {
  double sum = 0;
  for (std::size_t t = 1; t < ids.size(); ++t) {
    std::size_t begin = 0;
    while (begin + window <= t) begin += stride;
    const Ids context(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                      ids.begin() + static_cast<std::ptrdiff_t>(t));
    sum -= compute_logprobs(last_logits(model, context), ids[t], 0).chosen.logprob;
  }
  return sum;
}

TEST(PerplexityWindows, EveryTokenOnceBehindItsWindow) {
  const Model model = load_generation_model("tied");
  const LanguageModel& language_model = model.impl().generator().model();
  for (const std::size_t length : {2u, 3u, 7u, 20u, 33u}) {
    const Ids ids = varied_ids(length);
    for (const std::size_t window : {2u, 3u, 8u, 20u, 40u}) {
      for (std::size_t stride = 1; stride < window; stride += 1 + stride / 2) {
        const Perplexity got = measure_perplexity(language_model, ids, window, stride);
        EXPECT_EQ(got.num_tokens, length - 1);
        EXPECT_DOUBLE_EQ(got.negative_log_likelihood,
                         expected_loss(language_model, ids, window, stride))
            << length << " tokens, window " << window << ", stride " << stride;
      }
    }
  }
}

// Longer than a pass and than a chunk.
TEST(PerplexityWindows, PassesChangeNothing) {
  const Model model = load_generation_model("tied");
  const LanguageModel& language_model = model.impl().generator().model();
  const Ids ids = varied_ids(300);
  for (const auto& [window, stride] : {std::pair{300u, 299u}, {400u, 200u}, {200u, 70u}}) {
    const Perplexity got = measure_perplexity(language_model, ids, window, stride);
    EXPECT_EQ(got.num_tokens, 299u);
    EXPECT_DOUBLE_EQ(got.negative_log_likelihood,
                     expected_loss(language_model, ids, window, stride));
  }
}

TEST(PerplexityWindows, OfAText) {
  const Model model = load_generation_model("qwen3-untied");
  const std::string text = "It is late, and the tea will be ready soon. It is late.";
  const Perplexity whole = model.perplexity(text);
  EXPECT_EQ(whole.num_tokens, model.tokenizer().encode(text).ids.size() - 1);
  EXPECT_DOUBLE_EQ(whole.value(),
                   std::exp(whole.negative_log_likelihood / static_cast<double>(whole.num_tokens)));
  EXPECT_GT(whole.seconds, 0);
  // One window, however large it is and whatever the stride.
  for (const PerplexityOptions& options :
       {PerplexityOptions{.window = 32768}, {.window = 1000, .stride = 3}, {.stride = 1}}) {
    EXPECT_EQ(model.perplexity(text, options).negative_log_likelihood,
              whole.negative_log_likelihood);
  }
  EXPECT_NE(model.perplexity(text, {.window = 8}).negative_log_likelihood,
            whole.negative_log_likelihood);
}

TEST(PerplexityWindows, Refusals) {
  const Model model = load_generation_model("tied");
  const auto refused = [&](const std::string& text, const PerplexityOptions& options,
                           const std::string& part) {
    expect_refused([&] { model.perplexity(text, options); }, ErrorCode::kInvalidArgument, part);
  };
  refused("It is late", {.window = 1}, "window");
  refused("It is late", {.window = 32769}, "window");
  refused("It is late", {.stride = 0}, "stride");
  refused("It is late", {.window = 8, .stride = 8}, "stride");
  refused("", {}, "two tokens");
  refused("a", {}, "two tokens");
  refused("a\xFF", {}, "UTF-8");
}

}  // namespace
}  // namespace lattice
