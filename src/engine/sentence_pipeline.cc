#include "engine/sentence_pipeline.h"

#include "base/result.h"

namespace lattice {

SentencePipeline load_sentence_pipeline(const ModelDirectory& directory, std::int64_t hidden_size) {
  SentencePipeline pipeline;
  const std::vector<ModuleEntry> entries = load_module_list(directory);
  if (entries.empty()) {
    pipeline.pooling.source = "no modules.json: mean";
    pipeline.normalize_source = "no modules.json";
    return pipeline;
  }
  pipeline.normalize_source = "modules.json: no Normalize module";
  for (const ModuleEntry& entry : entries) {
    if (pipeline.normalize) {
      raise(ErrorCode::kUnsupported, "{}: module \"{}\" after Normalize is not implemented",
            (directory.path() / "modules.json").string(), entry.path);
    }
    if (entry.kind != ModuleKind::kTransformer) {
      pipeline.directories.push_back(entry.directory.path());
    }
    switch (entry.kind) {
      case ModuleKind::kTransformer:
        break;
      case ModuleKind::kPooling:
        pipeline.pooling =
            parse_pooling_config(entry.directory.path() / "config.json", hidden_size);
        pipeline.pooling.source = entry.path + "/config.json";
        break;
      case ModuleKind::kDense:
        pipeline.modules.push_back(
            load_dense_module(entry.directory.path(), pipeline.dimension(hidden_size)));
        break;
      case ModuleKind::kLayerNorm:
        pipeline.modules.push_back(
            load_layer_norm_module(entry.directory.path(), pipeline.dimension(hidden_size)));
        break;
      case ModuleKind::kNormalize:
        pipeline.normalize = true;
        pipeline.normalize_source = "modules.json: Normalize module";
        break;
    }
  }
  return pipeline;
}

}  // namespace lattice
