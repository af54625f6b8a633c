#pragma once

#include <cstddef>
#include <string>

#include "io/json_writer.h"
#include "lattice/model.h"

namespace lattice::cli {

/// The speed of one generation: a prompt of random tokens, and greedy tokens behind it.
struct GenerationBench {
  std::size_t prompt = 0;
  std::size_t output = 0;
  double prompt_ms = 0;  ///< until the first token: the median of the runs
  double token_ms = 0;   ///< of each further token: the median of the runs

  double prompt_tokens_per_second() const { return static_cast<double>(prompt) * 1e3 / prompt_ms; }
  double output_tokens_per_second() const { return 1e3 / token_ms; }
};

/// "512x64": 512 prompt tokens and 64 generated ones. Throws UsageError.
GenerationBench parse_generation(const std::string& shape);

/// Measures at least three runs and `seconds`.
void measure_generation(const Model& model, double seconds, GenerationBench& bench);

void add_generation_bench(JsonWriter& json, const GenerationBench& bench);
std::string generation_bench_line(const GenerationBench& bench);

/// What the threads of one call can read from memory, in bytes per second: what decoding one text
/// is bound by. The best of some passes over a buffer that no cache holds.
double read_bandwidth(std::size_t num_threads);

}  // namespace lattice::cli
