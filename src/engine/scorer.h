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
};

/// Texts or pairs in, logits out: tokenization, batching, forward pass, head. Immutable but for the
/// model's pool of contexts; thread-safe.
class Scorer {
 public:
  Scorer(std::shared_ptr<const LoadedModel> model, std::unique_ptr<const PairEncoder> encoder,
         std::unique_ptr<const SequenceHead> head, LabelConfig labels);

  const LabelConfig& labels() const { return labels_; }
  const PairEncoder& encoder() const { return *encoder_; }
  const LoadedModel& model() const { return *model_; }
  std::int64_t num_labels() const { return head_->num_labels(); }

  /// The limits that `options` mean; throws LatticeError(kInvalidArgument) naming a wrong option.
  PairLimits limits(const ScoreOptions& options) const;

  /// logits [texts, num_labels], row-major; a report per text. Throws LatticeError like
  /// Model::classify.
  std::vector<float> score(std::span<const TextPair> texts, const ScoreOptions& options,
                           std::span<TextReport> reports) const;

  /// The same for texts that are tokenized already.
  std::vector<float> score_tokenized(std::span<const TokenizedText> texts,
                                     std::size_t batch_tokens) const;

 private:
  void compute_batch(std::span<const std::size_t> batch, std::span<const TokenizedText> texts,
                     std::span<float> logits) const;

  std::shared_ptr<const LoadedModel> model_;
  std::unique_ptr<const PairEncoder> encoder_;
  std::unique_ptr<const SequenceHead> head_;
  LabelConfig labels_;
};

/// See Model::rerank.
std::vector<RankedDocument> rerank(const Scorer& scorer, const std::string& query,
                                   std::span<const std::string> documents,
                                   const RerankOptions& options);

/// See Model::classify.
Classifications classify(const Scorer& scorer, std::span<const TextPair> texts,
                         const ClassifyOptions& options);

}  // namespace lattice
