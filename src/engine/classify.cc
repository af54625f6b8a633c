#include "engine/scorer.h"

namespace lattice {

Classifications classify(const Scorer& scorer, std::span<const TextPair> texts,
                         const ClassifyOptions& options) {
  Classifications out(scorer.labels().names, texts.size());
  const std::vector<float> logits = scorer.score(texts,
                                                 {.truncate = options.truncate,
                                                  .max_length = options.max_length,
                                                  .batch_tokens = options.batch_tokens,
                                                  .skip_errors = options.skip_errors},
                                                 out.mutable_reports());
  const std::size_t width = out.labels().size();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::span<const float> row = std::span(logits).subspan(i * width, width);
    std::copy(row.begin(), row.end(), out.mutable_logits(i).begin());
    std::copy(row.begin(), row.end(), out.mutable_scores(i).begin());
    if (options.raw || out.report(i).error) continue;
    apply_score_function(scorer.labels().classify_function, out.mutable_scores(i));
  }
  return out;
}

}  // namespace lattice
