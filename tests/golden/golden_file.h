#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/embedder.h"
#include "lattice/model.h"
#include "tensor/tensor.h"

namespace lattice {

/// One case of a golden.json (format: tools/golden/README.md).
struct GoldenCase {
  std::string text;
  std::optional<std::string> pair;
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;  ///< as the model is given them
  std::size_t num_tokens = 0;          ///< without truncation
  bool truncated = false;
};

/// The nearest other texts of one text.
struct GoldenRanking {
  std::size_t query = 0;
  std::vector<std::size_t> nearest;
};

/// What the reference implementation computed for one model directory.
struct GoldenFile {
  std::int64_t max_seq_length = 0;
  std::vector<GoldenCase> cases;
  std::vector<std::size_t> taps;
  std::vector<GoldenRanking> rankings;
  std::vector<double> embeddings;  ///< [cases, dimensions]
  std::size_t dimensions = 0;
  std::filesystem::path tensors;  ///< the .safetensors file, for taps

  const double* embedding(std::size_t i) const { return embeddings.data() + i * dimensions; }
  std::vector<double> tap(std::size_t index, const std::string& name) const;
  std::vector<std::string> texts() const;
};

/// Reads <stem>.json and <stem>.safetensors. Throws LatticeError when they are not as documented.
GoldenFile load_golden(const std::filesystem::path& stem);

/// One entry of tests/golden/tiny/manifest.json.
struct TinyVariant {
  std::string name;
  std::filesystem::path directory;
  std::filesystem::path golden;
  double tolerance = 0;
  EmbedOptions options;
  std::string same_as;
};

const std::vector<TinyVariant>& tiny_variants();
const TinyVariant& tiny_variant(const std::string& name);

/// The texts of tests/golden/texts.jsonl.
std::vector<std::string> golden_texts();

/// The case as its golden ids and type ids.
TokenizedText tokenized(const GoldenCase& c);

/// Greatest |a - b| over all embeddings; infinity when sizes differ.
double max_abs_difference(const Embeddings& embeddings, const GoldenFile& golden);

}  // namespace lattice
