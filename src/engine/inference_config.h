#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "lattice/model.h"

namespace lattice {

/// inference_config.json beside a model: settings of the run, not of the model. A missing file or
/// key means the default.
struct InferenceConfig {
  /// Ends a generated text; appended to a text to embed when the tokenizer adds no special token.
  std::optional<Sourced<std::int64_t>> eos_token_id;
  /// Positions of the first rotary table, which grows on demand.
  Sourced<std::int64_t> rope_table_max_seq_len{1024, "default"};
  /// A longer sequence is computed on the CPU; absent: no limit.
  std::optional<Sourced<std::int64_t>> gpu_max_seq_len;
};

/// Reads `directory`/inference_config.json, if there is one. Throws LatticeError(kMalformed) naming
/// the key for an unknown key, a wrong type or a value out of range.
InferenceConfig load_inference_config(const std::filesystem::path& directory);

}  // namespace lattice
