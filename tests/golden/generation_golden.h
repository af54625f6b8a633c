#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/generation/language_model.h"

namespace lattice {

/// One case of tests/golden/generation/<variant>/golden.json.
struct GenerationCase {
  std::vector<std::int32_t> ids;
  std::vector<double> logits;  ///< of the last token
  std::vector<std::int32_t> greedy;
  std::vector<double> gaps;          ///< per greedy token, between the two largest logits
  std::optional<std::int32_t> next;  ///< the token that the oracle takes to follow `ids`
};

/// One entry of tests/golden/generation/manifest.json.
struct GenerationVariant {
  std::string name;
  std::filesystem::path directory;
  std::filesystem::path golden;
  std::string family;
};

/// What transformers computed for one variant.
struct GenerationGolden {
  std::vector<GenerationCase> cases;
  std::vector<std::size_t> taps;
  std::vector<std::size_t> scored;  ///< cases with losses and pooled vectors
  std::filesystem::path tensors;

  std::vector<double> tensor(const std::string& name) const;
};

const std::vector<GenerationVariant>& generation_variants();
const GenerationVariant& generation_variant(const std::string& name);
GenerationGolden load_generation_golden(const GenerationVariant& variant);

/// The logits of the last token after feeding `ids` in passes of these sizes (the last one takes
/// the rest).
std::vector<float> last_logits(const LanguageModel& model, std::span<const std::int32_t> ids,
                               const std::vector<std::size_t>& passes = {});

/// Greatest |a - b|; infinity when sizes differ.
double max_abs_difference(std::span<const float> got, std::span<const double> expected);

}  // namespace lattice
