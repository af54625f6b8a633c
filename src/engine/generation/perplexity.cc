#include "engine/generation/perplexity.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/generation/logprobs.h"

namespace lattice {
namespace {

// Logits of this many tokens are held at a time.
constexpr std::size_t kPassTokens = 128;

// Adds the losses of ids[from..] given all of `ids` before them.
void add_window(const LanguageModel& model, std::span<const std::int32_t> ids, std::size_t from,
                Perplexity& sum) {
  const std::unique_ptr<DecoderState> state = model.make_state();
  const auto vocab = static_cast<std::size_t>(model.vocab_size());
  std::vector<float> logits;
  for (std::size_t begin = 0; begin + 1 < ids.size(); begin += kPassTokens) {
    // The last token predicts nothing that is known.
    const std::size_t end = std::min(begin + kPassTokens, ids.size() - 1);
    const std::size_t first = std::clamp(from - 1, begin, end);
    const LanguageModel::Input input{.ids = ids.subspan(begin, end - begin),
                                     .state = state.get(),
                                     .num_logits = static_cast<std::int64_t>(end - first)};
    const std::string_view other_device = model.forward({&input, 1}, logits);
    if (!other_device.empty()) sum.other_device = other_device;
    for (std::size_t t = first; t < end; ++t) {
      const auto row = std::span<const float>(logits).subspan((t - first) * vocab, vocab);
      sum.negative_log_likelihood -= compute_logprobs(row, ids[t + 1], 0).chosen.logprob;
      ++sum.num_tokens;
    }
  }
}

}  // namespace

double Perplexity::value() const {
  return std::exp(negative_log_likelihood / static_cast<double>(num_tokens));
}

Perplexity measure_perplexity(const LanguageModel& model, std::span<const std::int32_t> ids,
                              std::size_t window, std::size_t stride) {
  const auto start = std::chrono::steady_clock::now();
  Perplexity sum;
  // Each window predicts what the one before it did not; the first token has nothing before it.
  for (std::size_t begin = 0, done = 1; done < ids.size(); begin += stride) {
    const std::size_t end = std::min(begin + window, ids.size());
    if (end <= done) continue;
    add_window(model, ids.subspan(begin, end - begin), done - begin, sum);
    done = end;
  }
  sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return sum;
}

}  // namespace lattice
