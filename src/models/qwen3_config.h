#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"
#include "models/decoder_config.h"

namespace lattice {

/// config.json of a Qwen3 decoder (Qwen3-Embedding and dense Qwen3); Hugging Face's names.
struct Qwen3Config : DecoderConfig {
  /// Per layer: how many tokens up to itself a token sees; 0: all of them.
  std::vector<std::int64_t> windows;
};

/// Parses and validates. Throws LatticeError naming the field: kMalformed for bad values,
/// kUnsupported for options that would change the computation and are not implemented. A key that
/// is neither known nor inert is logged as a warning.
Qwen3Config parse_qwen3_config(const Json& config, const std::string& path);

}  // namespace lattice
