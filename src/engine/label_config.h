#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"

namespace lattice {

/// A function from logits to scores.
enum class ScoreFunction { kIdentity, kSigmoid, kSoftmax, kTanh, kRelu };

/// "identity", "sigmoid", "softmax", "tanh" or "relu".
std::string_view score_function_name(ScoreFunction function);

/// In place, over one row of logits; in f32, the sums of softmax in double.
void apply_score_function(ScoreFunction function, std::span<float> row);

/// What config.json says about the labels of a sequence classifier.
struct LabelConfig {
  /// Names in the order of the logits: id2label, else LABEL_0, LABEL_1, ...
  std::vector<std::string> names;
  /// For reranking: sentence_transformers.activation_fn, or the older
  /// sbert_ce_default_activation_function; else sigmoid for one label and identity for several.
  ScoreFunction rerank_function = ScoreFunction::kSigmoid;
  std::string rerank_function_source;
  /// For classification: by problem_type; else sigmoid for one label and softmax for several.
  ScoreFunction classify_function = ScoreFunction::kSoftmax;
  std::string classify_function_source;
};

/// Throws LatticeError: kMalformed for labels that do not number 0..n-1, kUnsupported naming an
/// activation of torch that is not implemented. One that is not torch's is code of the model's own:
/// it is not run, and a warning names the default that is used instead. Source: transformers,
/// PretrainedConfig and TextClassificationPipeline; sentence-transformers, CrossEncoder.
LabelConfig parse_label_config(const Json& config, const std::string& path);

/// The same for a head that id2label and problem_type do not describe: `count` plain names.
LabelConfig parse_label_config(const Json& config, const std::string& path, std::size_t count);

/// Takes the reranking activation from a cross-encoder's config_sentence_transformers.json, which
/// comes before config.json. Throws like parse_label_config.
void set_rerank_activation(const std::string& activation_fn, const std::string& source,
                           LabelConfig& labels);

}  // namespace lattice
