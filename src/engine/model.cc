#include "lattice/model.h"

#include "base/check.h"
#include "engine/generation/chat_session.h"
#include "engine/model_impl.h"

namespace lattice {

Model Model::from_directory(const std::filesystem::path& directory, const ModelOptions& options) {
  return Model(Impl::load(directory, options));
}

QwenModel QwenModel::from_directory(const std::filesystem::path& directory,
                                    const ModelOptions& options) {
  Model model = Model::from_directory(directory, options);
  if (model.info().family != "qwen3") {
    raise(ErrorCode::kUnsupported, "{}: expected a Qwen3 model, got the family {}",
          directory.string(), model.info().family);
  }
  return QwenModel(std::move(model));
}

Embeddings Model::embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  return impl_->embedder().embed(texts, options);
}

Embeddings Model::embed_ids(std::span<const std::vector<std::int32_t>> ids,
                            const EmbedOptions& options) const {
  return impl_->embedder().embed_ids(ids, options);
}

std::size_t Model::dimensions(const EmbedOptions& options) const {
  return impl_->embedder().dimensions(options);
}

std::vector<RankedDocument> Model::rerank(const std::string& query,
                                          std::span<const std::string> documents,
                                          const RerankOptions& options) const {
  return lattice::rerank(impl_->scorer(), query, documents, options);
}

Classifications Model::classify(std::span<const TextPair> texts,
                                const ClassifyOptions& options) const {
  return lattice::classify(impl_->scorer(), texts, options);
}

Generation Model::generate(const std::string& prompt, const GenerateOptions& options,
                           const OnText& on_text) const {
  return generate_ids(impl_->generator().encode(prompt), options, on_text);
}

Generation Model::generate_ids(std::span<const std::int32_t> prompt_ids,
                               const GenerateOptions& options, const OnText& on_text) const {
  const Generator& generator = impl_->generator();
  SequenceState state(generator.model().make_state());
  return generator.run(state,
                       generator.request({prompt_ids.begin(), prompt_ids.end()}, options, on_text));
}

std::vector<Generation> Model::generate_batch(std::span<const std::string> prompts,
                                              const GenerateOptions& options) const {
  return impl_->generator().run_all(prompts, options);
}

Perplexity Model::perplexity(const std::string& text, const PerplexityOptions& options) const {
  return impl_->generator().perplexity(text, options);
}

ChatSession Model::chat() const { return ChatSession(std::make_unique<ChatSession::Impl>(impl_)); }

SamplingOptions Model::default_sampling() const {
  return lattice::default_sampling(impl_->generator().config());
}

const Tokenizer& Model::tokenizer() const { return impl_->model().tokenizer; }

const ModelInfo& Model::info() const { return impl_->info(); }

}  // namespace lattice
