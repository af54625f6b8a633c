#include "bench_generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "cli.h"

namespace lattice::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Independent sums, or the additions' latency would be measured instead of the memory.
std::uint64_t sum_words(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace

GenerationBench parse_generation(const std::string& shape) {
  GenerationBench bench;
  char rest = '\0';
  if (std::sscanf(shape.c_str(), "%zux%zu%c", &bench.prompt, &bench.output, &rest) != 2 ||
      bench.prompt == 0 || bench.output < 2) {
    throw UsageError(
        fmt::format("--generate: expected PROMPTxOUTPUT tokens such as 512x64, got \"{}\"", shape));
  }
  return bench;
}

void measure_generation(const Model& model, double seconds, GenerationBench& bench) {
  std::mt19937 generator(42);
  std::uniform_int_distribution<std::int32_t> id(
      0, static_cast<std::int32_t>(model.info().vocab_size - 1));
  std::vector<std::int32_t> prompt(bench.prompt);
  std::ranges::generate(prompt, [&] { return id(generator); });
  GenerateOptions options;
  options.max_tokens = bench.output;
  options.stop_token_ids.emplace();
  model.generate_ids(prompt, options);  // packs the weights
  std::vector<double> prompt_ms;
  std::vector<double> token_ms;
  const auto start = Clock::now();
  while (prompt_ms.size() < 3 || seconds_since(start) < seconds) {
    const GenerateTimings timings = model.generate_ids(prompt, options).timings;
    prompt_ms.push_back(timings.prompt_ms);
    token_ms.push_back(timings.output_ms / static_cast<double>(timings.output_tokens - 1));
  }
  bench.prompt_ms = median(prompt_ms);
  bench.token_ms = median(token_ms);
}

void add_generation_bench(JsonWriter& json, const GenerationBench& bench) {
  json.begin_object();
  json.field("prompt", bench.prompt).field("output", bench.output);
  json.field("prompt_ms", bench.prompt_ms).field("token_ms", bench.token_ms);
  json.field("prompt_tokens_per_s", bench.prompt_tokens_per_second());
  json.field("output_tokens_per_s", bench.output_tokens_per_second());
  json.end_object();
}

std::string generation_bench_line(const GenerationBench& bench) {
  return fmt::format(
      "generate {}x{}: first token {:.1f} ms ({:.1f} prompt tokens/s), then {:.2f} ms a token "
      "({:.1f} tokens/s)\n",
      bench.prompt, bench.output, bench.prompt_ms, bench.prompt_tokens_per_second(), bench.token_ms,
      bench.output_tokens_per_second());
}

double read_bandwidth(std::size_t num_threads) {
  constexpr std::size_t kWords = std::size_t{1} << 26;  // 512 MiB
  AlignedBuffer<std::uint64_t> buffer(kWords);
  ThreadPool pool(num_threads);
  std::vector<std::uint64_t> sums(num_threads);
  const auto share = kWords / num_threads;
  pool.parallel_for(num_threads, [&](std::size_t t, std::size_t) {
    std::fill_n(buffer.data() + t * share, share, t);
  });
  double best = 0;
  for (int pass = 0; pass < 5; ++pass) {
    const auto start = Clock::now();
    pool.parallel_for(num_threads, [&](std::size_t t, std::size_t) {
      sums[t] += sum_words(buffer.data() + t * share, share);
    });
    best =
        std::max(best, static_cast<double>(kWords * sizeof(std::uint64_t)) / seconds_since(start));
  }
  return sums[0] == 1 ? 0.0 : best;  // the sums must be computed
}

}  // namespace lattice::cli
