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
  const std::string file = (directory.path() / "modules.json").string();
  check_embedding_modules(entries, file);
  return build_sentence_pipeline(entries, file, hidden_size, "sentence_embedding");
}

SentencePipeline build_sentence_pipeline(std::span<const ModuleEntry> entries,
                                         const std::string& file, std::int64_t hidden_size,
                                         std::string_view output_name) {
  SentencePipeline pipeline;
  pipeline.normalize_source = "modules.json: no Normalize module";
  for (const ModuleEntry& entry : entries) {
    if (pipeline.normalize) {
      raise(ErrorCode::kUnsupported, "{}: module \"{}\" after Normalize is not implemented", file,
            entry.path);
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
            load_dense_module(entry.directory.path(), pipeline.dimension(hidden_size),
                              &entry == &entries.back() ? output_name : "sentence_embedding"));
        break;
      case ModuleKind::kLayerNorm:
        pipeline.modules.push_back(
            load_layer_norm_module(entry.directory.path(), pipeline.dimension(hidden_size)));
        break;
      case ModuleKind::kNormalize:
        pipeline.normalize = true;
        pipeline.normalize_source = "modules.json: Normalize module";
        break;
      case ModuleKind::kLogitScore:
        raise(ErrorCode::kUnsupported, "{}: module \"{}\" needs a language model's logits", file,
              entry.path);
    }
  }
  return pipeline;
}

MutMatrix apply_sentence_modules(Context& context, const SentencePipeline& pipeline,
                                 const PoolArgs& pooling, std::span<const PoolingMode> modes) {
  Workspace& workspace = context.workspace();
  const std::int64_t num_seqs = pooling.layout.num_seqs();
  const std::int64_t width = pooling.x.cols;
  MutMatrix vectors = workspace.matrix(num_seqs, width * static_cast<std::int64_t>(modes.size()));
  for (std::size_t i = 0; i < modes.size(); ++i) {
    PoolArgs args = pooling;
    args.mode = modes[i];
    args.out = vectors.columns(static_cast<std::int64_t>(i) * width, width);
    pool(context, args);
  }
  for (const auto& module : pipeline.modules) {
    const MutMatrix next = workspace.matrix(num_seqs, module->output_dimension());
    module->forward(context, vectors, next);
    vectors = next;
  }
  return vectors;
}

}  // namespace lattice
