// lattice as one of the engines of bench/peers: a process that is told what to measure by JSON
// lines on standard input, and answers each with one line. The Python workers of the other engines
// speak the same lines (bench/peers/worker.py), so that all of them get the same token ids.
//
//   peer_worker MODEL DTYPE THREADS
//
//   {"op": "load"}                                       -> {"load_s": S, ...}
//   {"op": "prepare", "kind": "embed"|"score"|"prefill"|"decode", "ids": [[...]],
//    "types": [[...]], "output": N}                      -> {}
//   {"op": "run", "seconds": S, "warm_up": S}            -> {"seconds": [...]}
//   {"op": "outputs", "path": FILE}                      -> {"shape": [rows, columns]}
//
// `outputs` writes raw float32: vectors, logits of pairs, or a language model's logits behind each
// of the first 64 tokens.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench_main.h"
#include "engine/model_impl.h"
#include "io/json.h"
#include "io/json_writer.h"

namespace lattice {
namespace {

using Clock = std::chrono::steady_clock;
using Rows = std::vector<std::vector<std::int32_t>>;

constexpr std::size_t kOutputTokens = 64;  // whose logits are given out: a megabyte each

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const Json& member(const Json& command, std::string_view key) {
  const Json* value = command.find(key);
  if (value == nullptr) raise(ErrorCode::kInvalidArgument, "command without \"{}\"", key);
  return *value;
}

std::string text_of(const Json& command, std::string_view key) {
  return std::string(member(command, key).as_string().value_or(""));
}

double number_of(const Json& command, std::string_view key) {
  return member(command, key).as_double().value_or(0.0);
}

Rows rows_of(const Json& command, std::string_view key) {
  Rows rows;
  for (const Json& row : member(command, key).items()) {
    auto& ids = rows.emplace_back();
    for (const Json& id : row.items()) {
      ids.push_back(static_cast<std::int32_t>(id.as_int().value_or(-1)));
    }
  }
  if (rows.empty()) raise(ErrorCode::kInvalidArgument, "\"{}\" holds no rows", key);
  return rows;
}

/// What `outputs` writes.
struct Outputs {
  std::vector<float> values;
  std::size_t rows = 0;
};

/// What one run does, and the seconds of it that count.
struct Work {
  std::function<double()> run;
  std::function<Outputs()> outputs;
};

template <typename Function>
double timed(const Function& function) {
  const auto start = Clock::now();
  function();
  return seconds_since(start);
}

Work embedding(const Model& model, Rows ids) {
  const auto rows = std::make_shared<const Rows>(std::move(ids));
  return {[=] { return timed([&] { model.embed_ids(*rows); }); },
          [=] {
            const Embeddings vectors = model.embed_ids(*rows);
            const auto values = vectors.values();
            return Outputs{{values.begin(), values.end()}, vectors.size()};
          }};
}

Work scoring(const Model& model, Rows ids, Rows types) {
  auto texts = std::make_shared<std::vector<TokenizedText>>();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    texts->push_back({std::move(ids[i]), std::move(types.at(i)), false});
  }
  const auto score = [=] {
    return model.impl().scorer().score_tokenized(*texts, EmbedOptions{}.batch_tokens);
  };
  return {[=] { return timed(score); }, [=] { return Outputs{score(), texts->size()}; }};
}

/// Logits behind every one of the first tokens of `ids`.
Outputs first_logits(const LanguageModel& model, std::span<const std::int32_t> ids) {
  ids = ids.first(std::min(kOutputTokens, ids.size()));
  const auto state = model.make_state();
  Outputs outputs{{}, ids.size()};
  const LanguageModel::Input input{ids, state.get(), static_cast<std::int64_t>(ids.size())};
  model.forward({&input, 1}, outputs.values);
  return outputs;
}

/// `decode`: a further token's time counts, else the first one's.
Work generation(const Model& model, Rows ids, std::size_t num_tokens, bool decode) {
  const auto prompt = std::make_shared<const std::vector<std::int32_t>>(std::move(ids.front()));
  GenerateOptions options;
  options.max_tokens = num_tokens;
  options.stop_token_ids.emplace();
  const auto run = [=] {
    const GenerateTimings timings = model.generate_ids(*prompt, options).timings;
    if (!decode) return timings.prompt_ms / 1e3;
    return timings.output_ms / 1e3 / static_cast<double>(timings.output_tokens - 1);
  };
  return {run, [=] { return first_logits(model.impl().generator().model(), *prompt); }};
}

Work make_work(const Model& model, const Json& command) {
  const std::string kind = text_of(command, "kind");
  Rows ids = rows_of(command, "ids");
  if (kind == "embed") return embedding(model, std::move(ids));
  if (kind == "score") return scoring(model, std::move(ids), rows_of(command, "types"));
  if (kind == "prefill" || kind == "decode") {
    const auto num_tokens = static_cast<std::size_t>(number_of(command, "output"));
    return generation(model, std::move(ids), num_tokens, kind == "decode");
  }
  raise(ErrorCode::kInvalidArgument, "unknown kind \"{}\"", kind);
}

/// Answers one command after the other.
class Worker {
 public:
  Worker(std::string directory, ModelOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {}

  void answer(const Json& command, JsonWriter& json) {
    const std::string op = text_of(command, "op");
    if (op == "load") {
      load(json);
    } else if (op == "prepare") {
      work_ = make_work(model_.value(), command);
    } else if (op == "run") {
      run(number_of(command, "seconds"), number_of(command, "warm_up"), json);
    } else if (op == "outputs") {
      write_outputs(text_of(command, "path"), json);
    } else {
      raise(ErrorCode::kInvalidArgument, "unknown op \"{}\"", op);
    }
  }

 private:
  void load(JsonWriter& json) {
    json.field("load_s", timed([&] { model_ = Model::from_directory(directory_, options_); }));
    const ModelInfo& info = model_->info();
    json.field("detail", fmt::format("{}, {}", info.device_target, info.compute_dtype));
  }

  void run(double seconds, double warm_up, JsonWriter& json) {
    for (const auto start = Clock::now(); seconds_since(start) < warm_up;) work_.run();
    json.key("seconds").begin_array();
    const auto start = Clock::now();
    do {
      json.value(work_.run());
    } while (seconds_since(start) < seconds);
    json.end_array();
  }

  void write_outputs(const std::string& path, JsonWriter& json) {
    const Outputs outputs = work_.outputs();
    std::ofstream file(path, std::ios::binary);
    for (const float value : outputs.values) {
      const auto bytes = std::bit_cast<std::array<char, sizeof(float)>>(value);
      file.write(bytes.data(), bytes.size());
    }
    if (!file.flush()) raise(ErrorCode::kIo, "{}: cannot be written", path);
    json.key("shape").begin_array();
    json.value(outputs.rows).value(outputs.values.size() / outputs.rows).end_array();
  }

  std::string directory_;
  ModelOptions options_;
  std::optional<Model> model_;
  Work work_;
};

int run(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: peer_worker MODEL DTYPE THREADS\n");
    return 2;
  }
  Worker worker(argv[1], {.dtype = argv[2], .num_threads = std::stoul(argv[3])});
  for (std::string line; std::getline(std::cin, line);) {
    const JsonDocument command = value_or_throw(JsonDocument::parse(line, "command"));
    JsonWriter json;
    json.begin_object();
    worker.answer(command.root(), json);
    json.end_object();
    std::cout << json.text() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::bench_main(lattice::run, argc, argv); }
