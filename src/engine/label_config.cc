#include "engine/label_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/log.h"
#include "io/config_reader.h"

namespace lattice {
namespace {

constexpr std::int64_t kMaxLabels = std::int64_t{1} << 20;

std::optional<std::size_t> parse_label_id(std::string_view key) {
  std::size_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc{} || end != key.data() + key.size()) return std::nullopt;
  return id;
}

void default_names(std::size_t count, std::vector<std::string>& names) {
  names.clear();
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("LABEL_{}", i));
}

void read_names(ConfigReader& reader, std::vector<std::string>& names) {
  const Json* id2label = reader.get("id2label");
  constexpr std::int64_t kAbsent = 0;
  const std::int64_t num_labels = reader.get_int("num_labels", kAbsent, 1, kMaxLabels);
  if (id2label == nullptr) {
    constexpr std::size_t kLibraryDefault = 2;
    return default_names(
        num_labels == kAbsent ? kLibraryDefault : static_cast<std::size_t>(num_labels), names);
  }
  if (!id2label->is_object()) return reader.wrong_type("id2label", "an object", *id2label);
  const std::size_t count = id2label->members().size();
  names.assign(count, "");
  std::vector<bool> seen(count, false);
  for (const JsonMember& member : id2label->members()) {
    const auto id = parse_label_id(member.key);
    const auto name = member.value.as_string();
    if (!id || *id >= count || seen[*id] || !name) {
      return reader.set_error(
          ErrorCode::kMalformed,
          fmt::format("{}: id2label: expected names for 0..{}, each once, got the key \"{}\"",
                      reader.source(), count - 1, member.key));
    }
    seen[*id] = true;
    names[*id] = *name;
  }
  // The library drops the names when num_labels disagrees with them.
  if (num_labels != kAbsent && static_cast<std::size_t>(num_labels) != count) {
    default_names(static_cast<std::size_t>(num_labels), names);
  }
}

std::string default_source(const LabelConfig& config) {
  return config.names.size() == 1 ? "default for one label"
                                  : fmt::format("default for {} labels", config.names.size());
}

/// The last component of a dotted path of torch, as "torch.nn.modules.linear.Identity".
std::optional<ScoreFunction> parse_activation(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('.') + 1);
  if (name == "Identity") return ScoreFunction::kIdentity;
  if (name == "Sigmoid") return ScoreFunction::kSigmoid;
  if (name == "Tanh") return ScoreFunction::kTanh;
  if (name == "ReLU") return ScoreFunction::kRelu;
  return std::nullopt;
}

void default_rerank_function(LabelConfig& out) {
  out.rerank_function = out.names.size() == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kIdentity;
  out.rerank_function_source = default_source(out);
}

Result<void> take_activation(const std::string& path, const std::string& source, LabelConfig& out) {
  if (!path.starts_with("torch.")) {
    log_warning("{}: \"{}\" is code of the model's own and is not run; scores use {}", source, path,
                score_function_name(out.rerank_function));
    return {};
  }
  const auto function = parse_activation(path);
  if (!function) {
    return fail(ErrorCode::kUnsupported, "{}: \"{}\" is not implemented", source, path);
  }
  out.rerank_function = *function;
  out.rerank_function_source = source;
  return {};
}

void read_rerank_function(ConfigReader& reader, LabelConfig& out) {
  std::string path;
  std::string key = "sentence_transformers.activation_fn";
  if (const Json* object = reader.get("sentence_transformers"); object && object->is_object()) {
    ConfigReader nested(*object, fmt::format("{}: sentence_transformers", reader.source()));
    path = nested.get_string("activation_fn", "");
    if (auto status = nested.finish(); !status) {
      return reader.set_error(status.error().code, status.error().message);
    }
  }
  if (path.empty()) {
    key = "sbert_ce_default_activation_function";
    path = reader.get_string(key, "");
  }
  default_rerank_function(out);
  if (path.empty()) return;
  if (auto status = take_activation(path, "config.json: " + key, out); !status) {
    reader.set_error(status.error().code,
                     fmt::format("{}: {}", reader.source(), status.error().message));
  }
}

void read_classify_function(ConfigReader& reader, LabelConfig& out) {
  const std::string type = reader.get_string("problem_type", "");
  out.classify_function_source = type.empty()
                                     ? fmt::format("default for {} labels", out.names.size())
                                     : fmt::format("config.json: problem_type {}", type);
  const bool one = out.names.size() == 1;
  if (type == "multi_label_classification" || (type.empty() && one)) {
    out.classify_function = ScoreFunction::kSigmoid;
  } else if (type == "single_label_classification" || type.empty()) {
    out.classify_function = one ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax;
  } else if (type == "regression") {
    out.classify_function = ScoreFunction::kIdentity;
  } else {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: problem_type: expected regression, single_label_classification or "
                    "multi_label_classification, got \"{}\"",
                    reader.source(), type));
  }
}

float sigmoid(float x) {
  return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x))));
}

void softmax(std::span<float> row) {
  const float max = *std::max_element(row.begin(), row.end());
  double sum = 0.0;
  for (const float x : row) sum += std::exp(static_cast<double>(x) - static_cast<double>(max));
  for (float& x : row) {
    x = static_cast<float>(std::exp(static_cast<double>(x) - static_cast<double>(max)) / sum);
  }
}

}  // namespace

std::string_view score_function_name(ScoreFunction function) {
  switch (function) {
    case ScoreFunction::kIdentity:
      return "identity";
    case ScoreFunction::kSigmoid:
      return "sigmoid";
    case ScoreFunction::kSoftmax:
      return "softmax";
    case ScoreFunction::kTanh:
      return "tanh";
    case ScoreFunction::kRelu:
      return "relu";
  }
  return "identity";
}

void apply_score_function(ScoreFunction function, std::span<float> row) {
  if (row.empty()) return;
  switch (function) {
    case ScoreFunction::kIdentity:
      return;
    case ScoreFunction::kSoftmax:
      return softmax(row);
    case ScoreFunction::kSigmoid:
      for (float& x : row) x = sigmoid(x);
      return;
    case ScoreFunction::kTanh:
      for (float& x : row) x = std::tanh(x);
      return;
    case ScoreFunction::kRelu:
      for (float& x : row) x = std::max(x, 0.0f);
      return;
  }
}

LabelConfig parse_label_config(const Json& config, const std::string& path) {
  ConfigReader reader(config, path);
  LabelConfig out;
  read_names(reader, out.names);
  if (reader.ok()) read_rerank_function(reader, out);
  if (reader.ok()) read_classify_function(reader, out);
  value_or_throw(reader.finish());
  return out;
}

LabelConfig parse_label_config(const Json& config, const std::string& path, std::size_t count) {
  ConfigReader reader(config, path);
  LabelConfig out;
  default_names(count, out.names);
  read_rerank_function(reader, out);
  value_or_throw(reader.finish());
  out.classify_function = count == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax;
  out.classify_function_source = default_source(out);
  return out;
}

void set_rerank_activation(const std::string& activation_fn, const std::string& source,
                           LabelConfig& labels) {
  if (!activation_fn.empty()) value_or_throw(take_activation(activation_fn, source, labels));
}

}  // namespace lattice
