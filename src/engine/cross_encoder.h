#pragma once

#include <memory>
#include <string>

#include "engine/module_list.h"
#include "engine/scorer.h"
#include "engine/sentence_config.h"
#include "models/model_family.h"

namespace lattice {

/// What a cross-encoder is made from: a model directory, read as far as every task needs it.
struct CrossEncoderSource {
  const ModelSource& model;
  const ModelFamily& family;
  std::string architecture;  ///< architectures[0]
  std::span<const ModuleEntry> modules;
  const SentencePrompts& sentence_config;
  const TransformerModuleConfig& transformer;
  std::filesystem::path directory;
  std::shared_ptr<const LoadedModel> loaded;
};

/// The cross-encoder that the directory holds, or nullptr: a sequence classifier, a language model
/// that answers yes or no, or a chain of modules whose config_sentence_transformers.json says
/// CrossEncoder. Throws LatticeError when it is one and something of it is missing or not
/// implemented. Source: sentence-transformers, CrossEncoder.
std::unique_ptr<Scorer> load_cross_encoder(const CrossEncoderSource& source);

}  // namespace lattice
