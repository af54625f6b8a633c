#include "models/decoder_weights.h"

namespace lattice {

WeightScope find_decoder_root(const WeightScope& weights, const std::string& config_path) {
  constexpr std::string_view kProbe = "embed_tokens.weight";
  const WeightScope model = weights.child("model");
  for (const WeightScope& scope : {weights, model, model.child("language_model")}) {
    if (scope.has(kProbe)) return scope;
  }
  raise(ErrorCode::kNotFound,
        "[weights] {}: no tensor \"{}\", alone or behind model. or model.language_model.",
        config_path, kProbe);
}

Tensor load_decoder_head(const ModelSource& source, const ModelTraits& traits) {
  const WeightScope head = source.weights.child("lm_head");
  const bool from_table = traits.tie_word_embeddings && !head.has("weight");
  const WeightScope scope =
      from_table ? find_decoder_root(source.weights, source.config_path).child("embed_tokens")
                 : head;
  return scope.require("weight", {traits.vocab_size, traits.hidden_size});
}

}  // namespace lattice
