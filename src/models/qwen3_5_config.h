#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"
#include "models/decoder_config.h"
#include "models/delta_cache.h"
#include "ops/causal_conv1d.h"

namespace lattice {

/// config.json of a Qwen3.5 language model; Hugging Face's names. hidden_act is that of the MLP and
/// of the convolution.
struct Qwen35Config : DecoderConfig {
  DeltaCacheShape delta;           ///< of a Gated DeltaNet layer
  std::vector<bool> is_attention;  ///< per layer; false: Gated DeltaNet
  /// Of the multi-token prediction head, if the files hold one.
  std::int64_t mtp_num_hidden_layers = 1;
  bool mtp_use_dedicated_embeddings = false;
};

/// Parses and validates a flat config, or the text_config of a multimodal one. Throws LatticeError
/// naming the field: kMalformed for bad values, kUnsupported for options that would change the
/// computation and are not implemented. A key that is neither known nor inert is logged as a
/// warning.
Qwen35Config parse_qwen3_5_config(const Json& config, const std::string& path);

}  // namespace lattice
