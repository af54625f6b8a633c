#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "base/process_memory.h"
#include "base/result.h"
#include "bench_generation.h"
#include "cli.h"
#include "engine/model_impl.h"
#include "io/json_writer.h"

namespace lattice::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct BenchArguments {
  ModelArguments model;
  std::vector<std::string> shapes = {"1x16", "1x128", "32x128"};
  double seconds = 2.0;
  double warmup = 1.0;
  std::size_t batch_tokens = EmbedOptions{}.batch_tokens;
  std::vector<std::string> generations;
  bool score = false;
  bool no_cache_hit = false;
  bool json = false;
};

struct BenchCase {
  std::size_t batch = 0;
  std::size_t tokens = 0;
  std::size_t runs = 0;
  double median_s = 0;
  double min_s = 0;
  double max_s = 0;

  double tokens_per_second() const { return static_cast<double>(batch * tokens) / median_s; }
};

BenchCase parse_shape(const std::string& shape) {
  BenchCase result;
  char rest = '\0';
  if (std::sscanf(shape.c_str(), "%zux%zu%c", &result.batch, &result.tokens, &rest) != 2 ||
      result.batch == 0 || result.tokens == 0 || result.batch > 100000) {
    throw UsageError(
        fmt::format("--shape: expected BATCHxTOKENS such as 32x128, got \"{}\"", shape));
  }
  return result;
}

/// Seeded random ids inside the vocabulary: the work of real text without its tokenization.
std::vector<std::vector<std::int32_t>> random_ids(const BenchCase& shape, std::int64_t vocab_size) {
  std::mt19937 generator(42);
  std::uniform_int_distribution<std::int32_t> id(0, static_cast<std::int32_t>(vocab_size - 1));
  std::vector<std::vector<std::int32_t>> ids(shape.batch);
  for (auto& row : ids) {
    row.resize(shape.tokens);
    std::generate(row.begin(), row.end(), [&] { return id(generator); });
  }
  return ids;
}

/// One pass over the shape: embeddings, or a cross-encoder's logits.
std::function<void()> make_work(const Model& model, const BenchArguments& arguments,
                                const BenchCase& shape) {
  auto ids = random_ids(shape, model.info().vocab_size);
  if (!arguments.score) {
    EmbedOptions options;
    options.batch_tokens = arguments.batch_tokens;
    return [&model, options, ids = std::move(ids)] { model.embed_ids(ids, options); };
  }
  std::vector<TokenizedText> texts;
  for (auto& row : ids) {
    std::vector<std::int32_t> type_ids(row.size(), 0);
    texts.push_back({std::move(row), std::move(type_ids), false});
  }
  return [&scorer = model.impl().scorer(), texts = std::move(texts),
          batch_tokens = arguments.batch_tokens] { scorer.score_tokenized(texts, batch_tokens); };
}

void measure(const Model& model, const BenchArguments& arguments, BenchCase& result) {
  const std::function<void()> work = make_work(model, arguments, result);
  for (const auto start = Clock::now(); seconds_since(start) < arguments.warmup;) work();
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 3 || seconds_since(start) < arguments.seconds) {
    const auto run = Clock::now();
    work();
    times.push_back(seconds_since(run));
  }
  std::sort(times.begin(), times.end());
  result.runs = times.size();
  result.median_s = times[times.size() / 2];
  result.min_s = times.front();
  result.max_s = times.back();
}

/// Microseconds of one embed_ids() call whose vector is in a cache: the median of many.
double cache_hit_us(const Model& model) {
  const auto num_tokens =
      static_cast<std::size_t>(std::min<std::int64_t>(512, model.info().max_length.value));
  const auto ids = random_ids({.batch = 1, .tokens = num_tokens}, model.info().vocab_size);
  EmbedOptions options;
  options.cache = std::make_shared<EmbeddingCache>();
  model.embed_ids(ids, options);
  std::vector<double> times(1000);
  for (double& time : times) {
    const auto run = Clock::now();
    model.embed_ids(ids, options);
    time = seconds_since(run);
  }
  std::nth_element(times.begin(), times.begin() + 500, times.end());
  return times[500] * 1e6;
}

/// The first result of a cold model: weights are packed on the way.
double first_result_ms(const Model& model, const BenchArguments& arguments) {
  const auto start = Clock::now();
  if (!arguments.generations.empty()) {
    const std::int32_t prompt[] = {0, 1, 2};
    model.generate_ids(prompt, {.sampling = {}, .max_tokens = 1});
  } else if (arguments.score) {
    model.classify(std::vector<TextPair>{{"a first short text", "and another"}});
  } else {
    model.embed(std::vector<std::string>{"a first short text"});
  }
  return seconds_since(start) * 1e3;
}

struct BenchReport {
  double load_ms = 0;
  double first_ms = 0;
  std::optional<double> cache_hit_us;
  std::vector<BenchCase> cases;
  std::vector<GenerationBench> generations;
  std::optional<double> read_bandwidth;
  std::uint64_t peak_rss_bytes = 0;  ///< before the bandwidth's own buffer
};

void print_json(const Model& model, const BenchReport& report) {
  const ModelInfo& info = model.info();
  JsonWriter json;
  json.begin_object();
  json.field("model", info.directory).field("device", info.device);
  json.field("device_target", info.device_target).field("dtype", info.compute_dtype);
  json.field("threads", info.num_threads);
  json.field("load_ms", report.load_ms).field("first_result_ms", report.first_ms);
  if (report.cache_hit_us) json.field("cache_hit_us", *report.cache_hit_us);
  json.key("cases").begin_array();
  for (const BenchCase& row : report.cases) {
    json.begin_object();
    json.field("batch", row.batch).field("tokens", row.tokens).field("runs", row.runs);
    json.field("median_ms", row.median_s * 1e3).field("min_ms", row.min_s * 1e3);
    json.field("max_ms", row.max_s * 1e3).field("tokens_per_s", row.tokens_per_second());
    json.end_object();
  }
  json.end_array();
  if (report.read_bandwidth) {
    json.field("read_bytes_per_s", *report.read_bandwidth);
    json.key("generations").begin_array();
    for (const GenerationBench& row : report.generations) add_generation_bench(json, row);
    json.end_array();
  }
  json.field("peak_rss_bytes", report.peak_rss_bytes);
  json.end_object();
  std::printf("%s\n", json.text().c_str());
}

void print_text(const Model& model, const BenchReport& report) {
  const ModelInfo& info = model.info();
  std::string out = fmt::format("{}: {} ({}), {}, {} threads\n", info.directory, info.device,
                                info.device_target, info.compute_dtype, info.num_threads);
  out += fmt::format("load {:.1f} ms, first result {:.1f} ms\n", report.load_ms, report.first_ms);
  if (report.cache_hit_us) {
    out += fmt::format("one text from a cache {:.1f} us\n", *report.cache_hit_us);
  }
  if (!report.cases.empty()) {
    out += fmt::format("{:>12} {:>6} {:>12} {:>12} {:>14}\n", "batch x tok", "runs", "median ms",
                       "min ms", "tokens/s");
  }
  for (const BenchCase& row : report.cases) {
    out += fmt::format("{:>12} {:>6} {:>12.3f} {:>12.3f} {:>14.0f}\n",
                       fmt::format("{}x{}", row.batch, row.tokens), row.runs, row.median_s * 1e3,
                       row.min_s * 1e3, row.tokens_per_second());
  }
  for (const GenerationBench& row : report.generations) out += generation_bench_line(row);
  if (report.read_bandwidth) {
    out += fmt::format("memory reads {:.1f} GB/s\n", *report.read_bandwidth / 1e9);
  }
  out +=
      fmt::format("peak memory {:.1f} MiB\n", static_cast<double>(report.peak_rss_bytes) / 0x1p20);
  std::fputs(out.c_str(), stdout);
}

void measure_generations(const Model& model, const BenchArguments& arguments, BenchReport& report) {
  for (GenerationBench& row : report.generations) {
    measure_generation(model, arguments.seconds, row);
  }
  report.peak_rss_bytes = peak_resident_bytes();
  report.read_bandwidth = read_bandwidth(model.info().num_threads);
}

void run_bench(const BenchArguments& arguments, const CLI::App& verb) {
  BenchReport report;
  for (const std::string& shape : arguments.generations) {
    report.generations.push_back(parse_generation(shape));
  }
  // The default shapes are for models that embed.
  if (report.generations.empty() || verb.count("--shape") > 0) {
    for (const std::string& shape : arguments.shapes) report.cases.push_back(parse_shape(shape));
  }
  const auto load_start = Clock::now();
  const Model model = load_model(arguments.model);
  report.load_ms = seconds_since(load_start) * 1e3;
  report.first_ms = first_result_ms(model, arguments);
  if (!arguments.score && !arguments.no_cache_hit && !report.cases.empty()) {
    report.cache_hit_us = cache_hit_us(model);
  }
  for (BenchCase& row : report.cases) {
    if (static_cast<std::int64_t>(row.tokens) > model.info().max_length.value) {
      throw UsageError(fmt::format("--shape: {} tokens exceed the model's limit of {}", row.tokens,
                                   model.info().max_length.value));
    }
    measure(model, arguments, row);
  }
  report.peak_rss_bytes = peak_resident_bytes();
  if (!report.generations.empty()) measure_generations(model, arguments, report);
  if (arguments.json) {
    print_json(model, report);
  } else {
    print_text(model, report);
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("bench", "Measure load time, latency and throughput");
  auto arguments = std::make_shared<BenchArguments>();
  add_model_arguments(*verb, arguments->model);
  verb->add_option("--shape", arguments->shapes, "BATCHxTOKENS, several allowed")
      ->capture_default_str();
  verb->add_option("--seconds", arguments->seconds, "Measure each shape at least this long")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  verb->add_option("--warmup", arguments->warmup, "Seconds of warm-up before each shape")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  verb->add_option("--batch-tokens", arguments->batch_tokens, "Most tokens computed at once")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  verb->add_flag("--score", arguments->score,
                 "Measure a cross-encoder's logits of BATCH pairs of TOKENS");
  verb->add_option("--generate", arguments->generations,
                   "PROMPTxOUTPUT tokens of a text to generate, such as 512x64; several allowed");
  verb->add_flag("--no-cache-hit", arguments->no_cache_hit,
                 "Do not measure a text from a cache, for which one is computed");
  verb->add_flag("--json", arguments->json, "Machine-readable");
  verb->footer("Example:\n  lattice bench -m models/all-MiniLM-L6-v2 --shape 1x16 --shape 32x128");
  verb->callback([arguments, verb] { run_bench(*arguments, *verb); });
}

}  // namespace lattice::cli
