#include <algorithm>

#include "base/check.h"
#include "engine/document_windows.h"
#include "engine/scorer.h"

namespace lattice {
namespace {

/// The pairs to score, and which document each belongs to.
struct Pairs {
  std::vector<TextPair> texts;
  std::vector<std::size_t> document;
};

std::size_t window_size(const Scorer& scorer, const std::string& query, const PairRequest& limits) {
  EncodeOptions plain;
  plain.add_special_tokens = false;
  const std::size_t taken = scorer.encoder().num_added_tokens() +
                            scorer.model().tokenizer.encode(query, plain).ids.size();
  constexpr std::size_t kLeast = 8;
  if (taken + kLeast > limits.max_length) {
    raise(ErrorCode::kTooLong, "the query leaves no room for windows: {} of {} tokens ({})", taken,
          limits.max_length, limits.max_length_source);
  }
  return limits.max_length - taken;
}

Pairs make_pairs(const Scorer& scorer, const std::string& query,
                 std::span<const std::string> documents, const RerankOptions& options,
                 const PairRequest& limits) {
  Pairs pairs;
  const std::size_t window = options.windows ? window_size(scorer, query, limits) : 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    std::vector<std::string> parts;
    if (options.windows) {
      parts = document_windows(scorer.model().tokenizer, documents[i], window);
    } else {
      parts.push_back(documents[i]);
    }
    for (std::string& part : parts) {
      pairs.texts.push_back({query, std::move(part)});
      pairs.document.push_back(i);
    }
  }
  return pairs;
}

/// A document's logit is the greatest of its pairs'; errors and lengths add up.
std::vector<RankedDocument> collect(const Pairs& pairs, std::span<const float> logits,
                                    std::span<const TextReport> reports, std::size_t count) {
  std::vector<RankedDocument> out(count);
  std::vector<bool> seen(count, false);
  for (std::size_t p = 0; p < pairs.document.size(); ++p) {
    RankedDocument& document = out[pairs.document[p]];
    document.index = pairs.document[p];
    document.report.num_tokens += reports[p].num_tokens;
    document.report.truncated = document.report.truncated || reports[p].truncated;
    if (reports[p].error) document.report.error = reports[p].error;
    if (!reports[p].other_device.empty()) document.report.other_device = reports[p].other_device;
    if (!seen[document.index] || logits[p] > document.logit) document.logit = logits[p];
    seen[document.index] = true;
  }
  return out;
}

// By logit: scores of an activation may be equal where logits are not. Errors come last.
bool ranks_before(const RankedDocument& a, const RankedDocument& b) {
  const bool a_failed = a.report.error.has_value();
  const bool b_failed = b.report.error.has_value();
  if (a_failed != b_failed) return b_failed;
  if (a.logit != b.logit) return a.logit > b.logit;
  return a.index < b.index;
}

}  // namespace

std::vector<RankedDocument> rerank(const Scorer& scorer, const std::string& query,
                                   std::span<const std::string> documents,
                                   const RerankOptions& options) {
  if (scorer.num_labels() != 1) {
    raise(ErrorCode::kUnsupported,
          "rerank needs a model with one label, this one has {}; use classify",
          scorer.num_labels());
  }
  const ScoreOptions score{
      .truncate = options.truncate,
      .max_length = options.max_length,
      .batch_tokens = options.batch_tokens,
      .skip_errors = true,
      .instruction = options.instruction};  // to name the document, not the pair
  const Pairs pairs = make_pairs(scorer, query, documents, options, scorer.request(score));
  std::vector<TextReport> reports(pairs.texts.size());
  const std::vector<float> logits = scorer.score(pairs.texts, score, reports);
  std::vector<RankedDocument> ranking = collect(pairs, logits, reports, documents.size());
  for (RankedDocument& document : ranking) {
    document.score = document.logit;
    if (document.report.error && !options.skip_errors) {
      raise(document.report.error->code, "document {}: {}", document.index,
            document.report.error->message);
    }
    if (options.raw || document.report.error) continue;
    apply_score_function(scorer.labels().rerank_function, std::span(&document.score, 1));
  }
  std::sort(ranking.begin(), ranking.end(), ranks_before);
  if (options.top_n) ranking.resize(std::min(*options.top_n, ranking.size()));
  return ranking;
}

}  // namespace lattice
