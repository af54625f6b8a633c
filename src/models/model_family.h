#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "layers/weight_scope.h"
#include "models/sequence_head.h"
#include "models/text_model.h"

namespace lattice {

/// What a family's loader gets.
struct ModelSource {
  const Json& config;       ///< config.json's root
  std::string config_path;  ///< for messages
  WeightScope weights;      ///< the root of all tensor names
  WeightFormat format = WeightFormat::kF32;
  std::int64_t rope_table_positions = 1024;  ///< of the first rotary table, which grows
};

/// What a family's head loader gets.
struct HeadSource {
  const ModelSource& model;
  std::string_view architecture;  ///< architectures[0]
  std::int64_t hidden_size = 0;
  std::int64_t num_labels = 1;
};

/// One architecture family. Each family is one file in src/models that defines a function
/// `const ModelFamily& <name>_family()`; the build lists them (src/models/CMakeLists.txt).
struct ModelFamily {
  std::string_view name;
  /// The values of config.json's model_type that it implements.
  std::vector<std::string_view> model_types;
  /// The values of config.json's architectures[0] that it implements.
  std::vector<std::string_view> architectures;
  /// Parts of tensor names that checkpoints hold and this family does not use (task heads,
  /// buffers); any other unused tensor is reported.
  std::vector<std::string_view> unused_weights;
  /// Throws LatticeError when the config or the weights are not valid for the family.
  std::unique_ptr<TextModel> (*load)(const ModelSource& source);
  /// The head of an architecture "...ForSequenceClassification". Throws LatticeError when the
  /// weights lack a part of it.
  std::unique_ptr<SequenceHead> (*load_head)(const HeadSource& source);
  /// The weight [vocab_size, hidden_size] of a language model's logits; nullptr for an encoder.
  Tensor (*language_head)(const ModelSource& source, const ModelTraits& traits) = nullptr;
};

/// All families of this build.
std::span<const ModelFamily* const> model_families();

/// The family that config.json asks for. Throws kUnsupported naming the architecture and listing
/// what is implemented, kMalformed when the config names none.
const ModelFamily& find_model_family(const Json& config, const std::string& config_path);

}  // namespace lattice
