#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/context_pool.h"
#include "engine/embedding_cache_identity.h"
#include "engine/length_limit.h"
#include "engine/sentence_config.h"
#include "engine/sentence_pipeline.h"
#include "lattice/model.h"
#include "models/text_model.h"

namespace lattice {

struct EmbeddingIdentity;

/// One text as the model gets it.
struct TokenizedText {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;  ///< as long as ids
  bool truncated = false;
};

/// Texts in, vectors out: prompt, tokenization, batching, forward pass, pooling, modules. Immutable
/// but for the pool of contexts; thread-safe.
class Embedder {
 public:
  Embedder(Tokenizer tokenizer, std::unique_ptr<TextModel> model, SentencePipeline pipeline,
           SentencePrompts prompts, LengthLimit limit, std::unique_ptr<ContextPool> contexts);

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

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const TextModel& model() const { return *model_; }
  const SentencePipeline& pipeline() const { return pipeline_; }
  const SentencePrompts& prompts() const { return prompts_; }
  const LengthLimit& limit() const { return limit_; }
  ContextPool& contexts() const { return *contexts_; }

 private:
  struct Request;

  Request resolve(const EmbedOptions& options) const;
  EmbeddingIdentity identity(const Request& request) const;
  TokenizedText prepare(const std::string& text, const Request& request) const;
  TokenizedText prepare(const TokenizedText& text, const Request& request) const;
  template <typename Input>
  Embeddings embed_inputs(std::span<const Input> inputs, const EmbedOptions& options) const;
  template <typename Input>
  std::vector<TokenizedText> prepare_all(std::span<const Input> inputs, const Request& request,
                                         bool skip_errors, Embeddings& out) const;
  void check_ids(std::span<const std::int32_t> ids, ErrorCode code) const;
  void compute_batch(std::span<const std::size_t> batch, std::span<const TokenizedText> texts,
                     const Request& request, Embeddings& out) const;
  void apply_pipeline(Context& context, ConstMatrix hidden, const SequenceLayout& layout,
                      std::span<const std::int32_t> skip, const Request& request,
                      MutMatrix out) const;
  std::size_t prompt_length(const std::string& prompt) const;
  std::size_t num_appended() const { return appended_token_ ? 1 : 0; }

  Tokenizer tokenizer_;
  std::unique_ptr<TextModel> model_;
  SentencePipeline pipeline_;
  SentencePrompts prompts_;
  LengthLimit limit_;
  std::unique_ptr<ContextPool> contexts_;
  std::unique_ptr<const ModelFingerprint> fingerprint_;
  std::optional<std::int32_t> appended_token_;
};

}  // namespace lattice
