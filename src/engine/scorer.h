#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/label_config.h"
#include "engine/loaded_model.h"
#include "engine/pair_encoder.h"
#include "lattice/scoring.h"
#include "models/sequence_head.h"

namespace lattice {

/// How one call computes its logits.
struct ScoreOptions {
  Truncate truncate = Truncate::kEnd;
  std::optional<std::size_t> max_length = std::nullopt;
  std::size_t batch_tokens = 2048;
  bool skip_errors = false;
  std::optional<std::string> instruction = std::nullopt;
};

/// Texts or pairs in, logits out: tokenization, batching, forward pass, head. Immutable but for the
/// model's pool of contexts; thread-safe.
class Scorer {
 public:
  /// What a cross-encoder adds to a model. `limit` need not be the embedder's.
  struct Parts {
    std::shared_ptr<const LoadedModel> model;
    std::unique_ptr<const PairEncoder> encoder;
    std::unique_ptr<const SequenceHead> head;
    LabelConfig labels;
    LengthLimit limit;
  };
  explicit Scorer(Parts parts) : parts_(std::move(parts)) {}

  const LabelConfig& labels() const { return parts_.labels; }
  const PairEncoder& encoder() const { return *parts_.encoder; }
  const LoadedModel& model() const { return *parts_.model; }
  const LengthLimit& limit() const { return parts_.limit; }
  std::int64_t num_labels() const { return parts_.head->num_labels(); }

  /// What `options` mean; throws LatticeError(kInvalidArgument) naming a wrong option.
  PairRequest request(const ScoreOptions& options) const;

  /// logits [texts, num_labels], row-major; a report per text. Throws LatticeError like
  /// Model::classify.
  std::vector<float> score(std::span<const TextPair> texts, const ScoreOptions& options,
                           std::span<TextReport> reports) const;

  /// The same for texts that are tokenized already. What all of them begin with is computed once
  /// where the model can; the logits have the same bits either way. `reports`, one per text or
  /// none, get the other device.
  std::vector<float> score_tokenized(std::span<const TokenizedText> texts, std::size_t batch_tokens,
                                     std::span<TextReport> reports = {}) const;

  /// Computes every token of every text.
  std::vector<float> score_unshared(std::span<const TokenizedText> texts, std::size_t batch_tokens,
                                    std::span<TextReport> reports = {}) const;

 private:
  std::size_t shareable_tokens(std::span<const TokenizedText> texts) const;
  std::vector<float> score_behind(const DecoderState* prefix, std::span<const TokenizedText> texts,
                                  std::size_t batch_tokens, std::span<TextReport> reports) const;
  // Both return ContextPool::Lease::other_device().
  std::string_view compute_prefix(std::span<const std::int32_t> ids, DecoderState& state) const;
  std::string_view compute_batch(const DecoderState* prefix, std::span<const std::size_t> batch,
                                 std::span<const TokenizedText> texts,
                                 std::span<float> logits) const;

  Parts parts_;
};

/// See Model::rerank.
std::vector<RankedDocument> rerank(const Scorer& scorer, const std::string& query,
                                   std::span<const std::string> documents,
                                   const RerankOptions& options);

/// See Model::classify.
Classifications classify(const Scorer& scorer, std::span<const TextPair> texts,
                         const ClassifyOptions& options);

}  // namespace lattice
