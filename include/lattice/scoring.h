#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lattice/error.h"

namespace lattice {

/// What to do with a text longer than the model's limit.
enum class Truncate {
  kError,  ///< refuse it, naming its index and length
  kEnd,    ///< drop tokens from the end (special tokens are kept); of a pair, from the longer text
  kStart,  ///< drop tokens from the start
};

/// What happened to one text, or pair of texts.
struct TextReport {
  std::size_t num_tokens = 0;  ///< tokens computed, special tokens and prompt included
  bool truncated = false;
  std::optional<Error> error = std::nullopt;  ///< set only with skip_errors; the results are 0
  /// The device that computed all or the end of it where that is not ModelInfo::device: "cpu" when
  /// the GPU failed, or the text is longer than gpu_max_seq_len. Else empty.
  std::string other_device = {};
};

/// How to rerank.
struct RerankOptions {
  Truncate truncate = Truncate::kEnd;
  /// A limit below the model's own, in tokens of query and document with special tokens.
  std::optional<std::size_t> max_length = std::nullopt;
  /// Instead of truncating it, score a long document in overlapping windows that fit beside the
  /// query; its logit is the greatest of theirs.
  bool windows = false;
  /// Return the best n documents only.
  std::optional<std::size_t> top_n = std::nullopt;
  /// Leave the model's activation out: scores are the logits.
  bool raw = false;
  /// For language models that rerank by a prompt: the task; absent: the model's own.
  std::optional<std::string> instruction = std::nullopt;
  /// The most tokens computed at once; memory grows with it, results do not depend on it.
  std::size_t batch_tokens = 2048;
  /// Rank a document with an error last, with the error in its report, instead of throwing.
  bool skip_errors = false;
};

/// One document of a ranking.
struct RankedDocument {
  std::size_t index = 0;  ///< in the documents given
  float score = 0;        ///< the model's activation of the logit
  float logit = 0;
  TextReport report;
};

/// One text to classify, or a pair.
struct TextPair {
  std::string text;
  std::optional<std::string> pair = std::nullopt;
};

/// How to classify.
struct ClassifyOptions {
  Truncate truncate = Truncate::kError;
  /// A limit below the model's own, in tokens with special tokens.
  std::optional<std::size_t> max_length = std::nullopt;
  /// Leave the activation out: scores are the logits.
  bool raw = false;
  /// The most tokens computed at once; memory grows with it, results do not depend on it.
  std::size_t batch_tokens = 2048;
  /// Record a text's error in its report instead of throwing; the other texts are classified.
  bool skip_errors = false;
};

/// Scores and logits per text, in input order, labels in the model's order.
class Classifications {
 public:
  Classifications(std::vector<std::string> labels, std::size_t num_texts)
      : labels_(std::move(labels)),
        logits_(num_texts * labels_.size()),
        scores_(num_texts * labels_.size()),
        reports_(num_texts) {}

  std::size_t size() const { return reports_.size(); }
  const std::vector<std::string>& labels() const { return labels_; }
  std::span<const float> logits(std::size_t i) const { return row(logits_, i); }
  std::span<const float> scores(std::size_t i) const { return row(scores_, i); }
  std::span<float> mutable_logits(std::size_t i) { return mutable_row(logits_, i); }
  std::span<float> mutable_scores(std::size_t i) { return mutable_row(scores_, i); }
  const TextReport& report(std::size_t i) const { return reports_[i]; }
  std::span<TextReport> mutable_reports() { return reports_; }

 private:
  std::span<const float> row(const std::vector<float>& values, std::size_t i) const {
    return std::span(values).subspan(i * labels_.size(), labels_.size());
  }
  std::span<float> mutable_row(std::vector<float>& values, std::size_t i) {
    return std::span(values).subspan(i * labels_.size(), labels_.size());
  }

  std::vector<std::string> labels_;
  std::vector<float> logits_;
  std::vector<float> scores_;
  std::vector<TextReport> reports_;
};

}  // namespace lattice
