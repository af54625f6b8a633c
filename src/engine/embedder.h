#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/embedding_cache_identity.h"
#include "engine/loaded_model.h"
#include "engine/sentence_config.h"
#include "engine/sentence_pipeline.h"
#include "engine/tokenized_text.h"
#include "lattice/model.h"

namespace lattice {

struct EmbeddingIdentity;

/// Texts in, vectors out: prompt, tokenization, batching, forward pass, pooling, modules. Immutable
/// but for the pool of contexts; thread-safe.
class Embedder {
 public:
  Embedder(std::shared_ptr<const LoadedModel> model, SentencePipeline pipeline,
           SentencePrompts prompts);

  /// What a cache calls this model; set once, before the first call with EmbedOptions::cache.
  void set_fingerprint(std::unique_ptr<const ModelFingerprint> fingerprint) {
    fingerprint_ = std::move(fingerprint);
  }
  const ModelFingerprint& fingerprint() const { return *fingerprint_; }

  /// Ends every text with this token, set once before the first call; inside the length limit.
  void append_token(std::optional<std::int32_t> id) { appended_token_ = id; }

  /// See Model::embed.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options) const;

  /// See Model::embed_ids.
  Embeddings embed_ids(std::span<const std::vector<std::int32_t>> ids,
                       const EmbedOptions& options) const;

  /// Embeds what is tokenized already; prompt and truncation options do not apply.
  Embeddings embed_tokenized(std::span<const TokenizedText> texts,
                             const EmbedOptions& options) const;

  /// See Model::dimensions.
  std::size_t dimensions(const EmbedOptions& options) const;

  const TextModel& model() const { return *model_->body; }
  const SentencePipeline& pipeline() const { return pipeline_; }
  const SentencePrompts& prompts() const { return prompts_; }
  ContextPool& contexts() const { return *model_->contexts; }

 private:
  struct Request;

  Request resolve(const EmbedOptions& options) const;
  EmbeddingIdentity identity(const Request& request) const;
  TokenizedText prepare(const std::string& text, const Request& request) const;
  TokenizedText prepare(const TokenizedText& text, const Request& request) const;
  template <typename Input>
  Embeddings embed_inputs(std::span<const Input> inputs, const EmbedOptions& options) const;
  /// Returns ContextPool::Lease::other_device().
  std::string_view compute_batch(std::span<const std::size_t> batch,
                                 std::span<const TokenizedText> texts, const Request& request,
                                 Embeddings& out) const;
  void apply_pipeline(Context& context, ConstMatrix hidden, const SequenceLayout& layout,
                      std::span<const std::int32_t> skip, const Request& request,
                      MutMatrix out) const;
  std::size_t prompt_length(const std::string& prompt) const;
  std::size_t num_appended() const { return appended_token_ ? 1 : 0; }

  std::shared_ptr<const LoadedModel> model_;
  SentencePipeline pipeline_;
  SentencePrompts prompts_;
  std::unique_ptr<const ModelFingerprint> fingerprint_;
  std::optional<std::int32_t> appended_token_;
};

}  // namespace lattice
