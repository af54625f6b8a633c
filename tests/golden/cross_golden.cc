#include "golden/cross_golden.h"

#include "base/result.h"
#include "golden/golden_json.h"

namespace lattice {

const std::vector<CrossVariant>& cross_variants() {
  static const std::vector<CrossVariant> variants = [] {
    const std::filesystem::path root = golden_dir() / "cross";
    const JsonDocument document = value_or_throw(JsonDocument::parse_file(root / "manifest.json"));
    std::vector<CrossVariant> all;
    for (const Json& item : member(document.root(), "variants").items()) {
      all.push_back({.name = std::string(member(item, "name").as_string().value()),
                     .directory = root / member(item, "dir").as_string().value(),
                     .golden = root / member(item, "golden").as_string().value(),
                     .family = std::string(member(item, "family").as_string().value()),
                     .tolerance = member(item, "tolerance").as_double().value()});
    }
    return all;
  }();
  return variants;
}

const CrossVariant& cross_variant(const std::string& name) {
  for (const CrossVariant& variant : cross_variants()) {
    if (variant.name == name) return variant;
  }
  raise(ErrorCode::kNotFound, "no cross-encoder variant {}", name);
}

CrossGolden load_cross_golden(const CrossVariant& variant) {
  const JsonDocument document =
      value_or_throw(JsonDocument::parse_file(variant.golden.string() + ".json"));
  const Json& root = document.root();
  CrossGolden golden;
  golden.max_seq_length = to_size(member(root, "max_seq_length"));
  for (const Json& label : member(root, "labels").items()) {
    golden.labels.emplace_back(label.as_string().value());
  }
  for (const Json& item : member(root, "cases").items()) {
    golden.cases.push_back(parse_case(item));
    if (const Json* instruction = item.find("instruction")) {
      golden.instructions.emplace_back(instruction->as_string().value());
    }
  }
  for (const Json& item : member(root, "groups").items()) {
    golden.groups.push_back({.query = std::string(member(item, "query").as_string().value()),
                             .cases = to_integers<std::size_t>(member(item, "cases")),
                             .order = to_integers<std::size_t>(member(item, "order"))});
  }
  const std::filesystem::path tensors = variant.golden.string() + ".safetensors";
  golden.logits = read_doubles(read_tensor(tensors, "logits"));
  golden.scores = read_doubles(read_tensor(tensors, "scores"));
  golden.probabilities = read_doubles(read_tensor(tensors, "probabilities"));
  return golden;
}

}  // namespace lattice
