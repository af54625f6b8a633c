#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ops/pool.h"

namespace lattice {

/// A Pooling module's config.json.
struct PoolingConfig {
  /// Applied in this order and concatenated.
  std::vector<PoolingMode> modes = {PoolingMode::kMean};
  /// Whether a prompt's tokens take part in the pool.
  bool include_prompt = true;
  std::string source;  ///< the file, for reports
};

/// Reads both forms: the old booleans (pooling_mode_cls_token, ...) and the newer `pooling_mode`
/// (a name or a list). None true means mean. Throws LatticeError: kUnsupported for an unknown mode,
/// kMalformed when `hidden_size` contradicts the file.
/// Source: sentence-transformers, Pooling module.
PoolingConfig parse_pooling_config(const std::filesystem::path& file, std::int64_t hidden_size);

/// "cls", "mean", "mean_sqrt_len_tokens", ...
std::string_view pooling_mode_name(PoolingMode mode);

/// "cls+max" for a concatenation.
std::string pooling_name(const std::vector<PoolingMode>& modes);

}  // namespace lattice
