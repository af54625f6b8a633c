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

/// Builds the pipeline of an embedding model. A directory without modules.json gets mean pooling
/// and no normalization, as sentence-transformers does. Throws LatticeError; kUnsupported when
/// Normalize is not the last module.
SentencePipeline load_sentence_pipeline(const ModelDirectory& directory, std::int64_t hidden_size);

/// The same from modules already listed; the last one calls its result `output_name`.
SentencePipeline build_sentence_pipeline(std::span<const ModuleEntry> entries,
                                         const std::string& file, std::int64_t hidden_size,
                                         std::string_view output_name);

/// Pools with `modes` and runs the modules: hidden [num_tokens, hidden_size] to vectors [num_seqs,
/// ...] in the context's workspace. `skip` as in PoolArgs.
MutMatrix apply_sentence_modules(Context& context, const SentencePipeline& pipeline,
                                 const PoolArgs& pooling, std::span<const PoolingMode> modes);

}  // namespace lattice
