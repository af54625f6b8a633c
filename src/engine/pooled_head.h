#pragma once

#include "engine/sentence_pipeline.h"
#include "models/sequence_head.h"

namespace lattice {

/// The head of a cross-encoder that is made of sentence-transformers modules: Pooling, then Dense
/// modules, of which the last gives the scores.
class PooledHead final : public SequenceHead {
 public:
  PooledHead(SentencePipeline pipeline, std::int64_t hidden_size)
      : pipeline_(std::move(pipeline)), num_labels_(pipeline_.dimension(hidden_size)) {}

  std::int64_t num_labels() const override { return num_labels_; }
  void forward(Context& context, const TokenBatch& batch, ConstMatrix hidden,
               MutMatrix logits) const override;

 private:
  SentencePipeline pipeline_;
  std::int64_t num_labels_;
};

}  // namespace lattice
