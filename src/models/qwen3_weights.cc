#include "models/qwen3_weights.h"

namespace lattice {

WeightScope find_qwen3_root(const WeightScope& weights, const std::string& config_path) {
  constexpr std::string_view kProbe = "embed_tokens.weight";
  if (weights.has(kProbe)) return weights;
  if (weights.child("model").has(kProbe)) return weights.child("model");
  raise(ErrorCode::kNotFound, "[weights] {}: no tensor \"{}\", with or without the prefix model.",
        config_path, kProbe);
}

}  // namespace lattice
