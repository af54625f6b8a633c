#include "engine/sentence_module.h"

#include "io/config_reader.h"

namespace lattice {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;

class DenseModule final : public SentenceModule {
 public:
  DenseModule(Linear linear, Activation activation, bool identity_residual,
              std::optional<Linear> residual)
      : linear_(std::move(linear)),
        activation_(activation),
        identity_residual_(identity_residual),
        residual_(std::move(residual)) {}

  std::int64_t output_dimension() const override { return linear_.out_features(); }

  void forward(Context& context, ConstMatrix x, MutMatrix out) const override {
    if (residual_) {
      residual_->forward(context, x, out);
      linear_.forward(context, x, out, activation_, ConstMatrix(out));
    } else if (identity_residual_) {
      linear_.forward(context, x, out, activation_, x);
    } else {
      linear_.forward(context, x, out, activation_);
    }
  }

 private:
  Linear linear_;
  Activation activation_;
  bool identity_residual_;
  std::optional<Linear> residual_;
};

class LayerNormModule final : public SentenceModule {
 public:
  LayerNormModule(LayerNorm norm, std::int64_t dimension)
      : norm_(std::move(norm)), dimension_(dimension) {}

  std::int64_t output_dimension() const override { return dimension_; }
  void forward(Context& context, ConstMatrix x, MutMatrix out) const override {
    norm_.forward(context, x, std::nullopt, out);
  }

 private:
  LayerNorm norm_;
  std::int64_t dimension_;
};

/// "torch.nn.modules.activation.Tanh" -> kTanh. A class outside torch is refused rather than
/// replaced by Tanh: the vectors would be wrong.
Activation parse_module_activation(ConfigReader& reader) {
  const std::string path =
      reader.get_string("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = path.substr(path.rfind('.') + 1);
  if (path.starts_with("torch.")) {
    if (name == "Tanh") return Activation::kTanh;
    if (name == "Identity") return Activation::kIdentity;
    if (name == "ReLU") return Activation::kRelu;
    if (name == "GELU") return Activation::kGelu;
    if (name == "SiLU") return Activation::kSilu;
    if (name == "Sigmoid") return Activation::kSigmoid;
  }
  reader.set_error(
      ErrorCode::kUnsupported,
      fmt::format("{}: activation_function: \"{}\" is not implemented", reader.source(), path));
  return Activation::kIdentity;
}

void check_feature_name(ConfigReader& reader, std::string_view key, std::string_view expected) {
  const std::string name = reader.get_string(key, "sentence_embedding");
  if (name != expected) {
    reader.set_error(ErrorCode::kUnsupported,
                     fmt::format("{}: {}: \"{}\" is not implemented", reader.source(), key, name));
  }
}

void check_input_dimension(ConfigReader& reader, std::string_view key, std::int64_t expected) {
  const std::int64_t got = reader.require_int(key, 1, kMaxWidth);
  if (reader.ok() && got != expected) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: {}: the previous module gives {} values, got {}",
                                 reader.source(), key, expected, got));
  }
}

void finish(ConfigReader& reader) {
  value_or_throw(reader.finish());
  reader.warn_unread_keys();
}

Linear load_f32_linear(const WeightScope& scope, std::int64_t in, std::int64_t out, bool bias) {
  // One small product per text: always in f32.
  return Linear(load_linear_part(scope, in, out, bias), WeightFormat::kF32);
}

}  // namespace

std::unique_ptr<SentenceModule> load_dense_module(const std::filesystem::path& directory,
                                                  std::int64_t input_dimension,
                                                  std::string_view output_name) {
  const std::filesystem::path file = directory / "config.json";
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  check_input_dimension(reader, "in_features", input_dimension);
  const std::int64_t out = reader.require_int("out_features", 1, kMaxWidth);
  const bool bias = reader.get_bool("bias", true);
  const bool use_residual = reader.get_bool("use_residual", false);
  const Activation activation = parse_module_activation(reader);
  check_feature_name(reader, "module_input_name", "sentence_embedding");
  check_feature_name(reader, "module_output_name", output_name);
  finish(reader);

  const WeightScope weights(value_or_throw(WeightFiles::open(directory)));
  std::optional<Linear> residual;
  if (use_residual && out != input_dimension) {
    residual = load_f32_linear(weights.child("residual"), input_dimension, out, /*bias=*/false);
  }
  Linear linear = load_f32_linear(weights.child("linear"), input_dimension, out, bias);
  return std::make_unique<DenseModule>(std::move(linear), activation,
                                       use_residual && !residual.has_value(), std::move(residual));
}

std::unique_ptr<SentenceModule> load_layer_norm_module(const std::filesystem::path& directory,
                                                       std::int64_t input_dimension) {
  const std::filesystem::path file = directory / "config.json";
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  check_input_dimension(reader, "dimension", input_dimension);
  finish(reader);
  const WeightScope weights(value_or_throw(WeightFiles::open(directory)));
  constexpr float kTorchDefaultEps = 1e-5f;
  return std::make_unique<LayerNormModule>(
      LayerNorm::load(weights.child("norm"), input_dimension, kTorchDefaultEps), input_dimension);
}

}  // namespace lattice
