// Work whose instructions are counted: see scripts/check_instructions.py.
//
//   instruction_probe CASE RUNS
//
// Prepares the case and runs it RUNS times on one thread, small ones with repeats. Counts with two
// different RUNS differ by the runs alone.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "base/result.h"
#include "lattice/model.h"
#include "ops/ops.h"

namespace lattice {
namespace {

using Run = std::function<void()>;

/// Numbers without a library's generator in the count: a ramp that is not exact in few bits.
std::vector<float> numbers(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 97) / 97.0f - 0.5f;
  }
  return values;
}

std::shared_ptr<Context> one_thread() {
  return std::make_shared<Context>(value_or_throw(make_cpu_backend()),
                                   std::make_shared<ThreadPool>(1));
}

Run linear_case(WeightFormat format, std::int64_t rows) {
  constexpr std::int64_t kIn = 384;
  constexpr std::int64_t kOut = 384;
  const auto context = one_thread();
  const LinearPart part{.weight = Tensor::from_floats({kOut, kIn}, numbers(kOut * kIn))};
  const std::shared_ptr<const PackedLinear> weight =
      context->backend().pack_linear(context->threads(), {&part, 1}, format);
  return [=, x = numbers(rows * kIn),
          out = std::vector<float>(static_cast<std::size_t>(rows * kOut))]() mutable {
    linear(*context, {.weight = weight.get(),
                      .x = ConstMatrix(x.data(), rows, kIn),
                      .out = MutMatrix(out.data(), rows, kOut)});
  };
}

Run attention_case(std::int64_t queries, std::int64_t keys) {
  constexpr std::int64_t kHeads = 8;
  constexpr std::int64_t kKvHeads = 4;
  constexpr std::int64_t kHeadDim = 64;
  const auto context = one_thread();
  return
      [=, q = numbers(queries * kHeads * kHeadDim), kv = numbers(keys * kKvHeads * kHeadDim),
       out = std::vector<float>(static_cast<std::size_t>(queries * kHeads * kHeadDim))]() mutable {
        const ConstMatrix rows(kv.data(), keys, kKvHeads * kHeadDim);
        const KeysValues keys_values(rows, rows, kHeadDim);
        const std::int32_t offsets[] = {0, static_cast<std::int32_t>(queries)};
        attention(*context, {.q = ConstMatrix(q.data(), queries, kHeads * kHeadDim),
                             .k = {},
                             .v = {},
                             .out = MutMatrix(out.data(), queries, kHeads * kHeadDim),
                             .layout = {offsets},
                             .sequences = {&keys_values, 1},
                             .num_heads = kHeads,
                             .num_kv_heads = kKvHeads,
                             .head_dim = kHeadDim,
                             .scale = 0.125f,
                             .causal = true});
      };
}

Model load(const std::string& directory) {
  return Model::from_directory(directory, {.device = "cpu", .dtype = "f32", .num_threads = 1});
}

Run embed_case() {
  const std::string directory = std::string(LATTICE_MODELS_DIR) + "/all-MiniLM-L6-v2";
  return [model = load(directory)] {
    const std::vector<std::string> texts = {"how do I stop a tap from dripping all night?"};
    static_cast<void>(model.embed(texts));
  };
}

Run tokenize_case() {
  const std::string directory = std::string(LATTICE_MODELS_DIR) + "/all-MiniLM-L6-v2";
  std::string text;
  for (int i = 0; i < 50; ++i) text += "The tap's washer, worn out, let water trickle - again! ";
  return [model = load(directory), text] { static_cast<void>(model.tokenizer().encode(text)); };
}

Run generate_case() {
  const std::string directory =
      std::string(LATTICE_TEST_DATA_DIR) + "/golden/generation/nested-tie-text";
  return [model = load(directory)] {
    const std::vector<std::int32_t> prompt = {1, 2, 3, 4, 5, 6, 7, 8};
    GenerateOptions options;
    options.max_tokens = 8;
    options.stop_token_ids = std::vector<std::int32_t>{};  // none
    options.sampling.temperature = 0;
    static_cast<void>(model.generate_ids(prompt, options));
  };
}

struct Case {
  std::function<Run()> make;
  long repeats = 1;  ///< of one run, so that it outweighs what varies between processes
};

const std::map<std::string, Case> kCases = {
    {"linear f32, 1 row", {[] { return linear_case(WeightFormat::kF32, 1); }, 500}},
    {"linear f32, 96 rows", {[] { return linear_case(WeightFormat::kF32, 96); }, 5}},
    {"linear bf16, 96 rows", {[] { return linear_case(WeightFormat::kBF16, 96); }, 5}},
    {"linear q8_0, 1 row", {[] { return linear_case(WeightFormat::kQ8_0, 1); }, 500}},
    {"linear q8_0, 96 rows", {[] { return linear_case(WeightFormat::kQ8_0, 96); }, 5}},
    {"attention, 128 queries", {[] { return attention_case(128, 128); }, 5}},
    {"attention, 1 query of 512 keys", {[] { return attention_case(1, 512); }, 20}},
    {"embed f32, one short text", {[] { return embed_case(); }}},
    {"tokenize, 50 sentences", {[] { return tokenize_case(); }, 100}},
    {"generate, 8 tokens of a tiny model", {[] { return generate_case(); }, 20}},
};

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& entry : kCases) std::printf("%s\n", entry.first.c_str());
    return 0;
  }
  const auto found = argc == 3 ? kCases.find(argv[1]) : kCases.end();
  if (found == kCases.end()) {
    std::fprintf(stderr, "usage: instruction_probe --list | CASE RUNS\n");
    return 2;
  }
  const Run once = found->second.make();
  const long runs = std::strtol(argv[2], nullptr, 10) * found->second.repeats;
  for (long i = 0; i < runs; ++i) once();
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) {
  try {
    return lattice::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "instruction_probe: %s\n", error.what());
    return 1;
  }
}
