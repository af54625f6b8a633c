#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "golden/golden_file.h"

namespace lattice {

/// One entry of tests/golden/cross/manifest.json (format: tools/golden/README.md).
struct CrossVariant {
  std::string name;
  std::filesystem::path directory;
  std::filesystem::path golden;
  std::string family;
  double tolerance = 0;  ///< of logits, scores and probabilities
};

const std::vector<CrossVariant>& cross_variants();
const CrossVariant& cross_variant(const std::string& name);

/// Documents of one query, and how they rank.
struct CrossGroup {
  std::string query;
  std::vector<std::size_t> cases;  ///< in document order
  std::vector<std::size_t> order;  ///< positions in `cases`, best first
};

/// What sentence-transformers' CrossEncoder and transformers' pipeline computed.
struct CrossGolden {
  std::size_t max_seq_length = 0;
  std::vector<std::string> labels;
  std::vector<GoldenCase> cases;
  std::vector<std::string> instructions;  ///< per case; empty unless the file has them
  std::vector<CrossGroup> groups;
  // [cases, labels]:
  std::vector<double> logits;
  std::vector<double> scores;
  std::vector<double> probabilities;
};

CrossGolden load_cross_golden(const CrossVariant& variant);

}  // namespace lattice
