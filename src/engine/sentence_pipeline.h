#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/module_list.h"
#include "engine/pooling_config.h"
#include "engine/sentence_module.h"

namespace lattice {

/// What happens to the last hidden states: pooling, then Dense and LayerNorm modules, then
/// normalization, as modules.json says. Immutable, thread-safe.
struct SentencePipeline {
  PoolingConfig pooling;
  std::vector<std::unique_ptr<SentenceModule>> modules;
  bool normalize = false;
  std::string normalize_source;
  /// Where the modules after the Transformer have their files, in order.
  std::vector<std::filesystem::path> directories;

  /// The width of the pooled vector: hidden_size for each pooling mode.
  std::int64_t pooled_dimension(std::int64_t hidden_size) const {
    return hidden_size * static_cast<std::int64_t>(pooling.modes.size());
  }
  /// The width of the final vector.
  std::int64_t dimension(std::int64_t hidden_size) const {
    return modules.empty() ? pooled_dimension(hidden_size) : modules.back()->output_dimension();
  }
};

/// Builds the pipeline. A directory without modules.json gets mean pooling and no normalization, as
/// sentence-transformers does. Throws LatticeError; kUnsupported when Normalize is not the last
/// module.
SentencePipeline load_sentence_pipeline(const ModelDirectory& directory, std::int64_t hidden_size);

}  // namespace lattice
