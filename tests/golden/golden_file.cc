#include "golden/golden_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/result.h"
#include "golden/golden_json.h"
#include "io/json.h"

namespace lattice {
namespace {

TinyVariant parse_variant(const Json& json) {
  const std::filesystem::path root = golden_dir() / "tiny";
  TinyVariant variant;
  variant.name = member(json, "name").as_string().value();
  variant.directory = root / member(json, "dir").as_string().value();
  variant.golden = root / member(json, "golden").as_string().value();
  variant.tolerance = member(json, "tolerance").as_double().value();
  const Json& encode = member(json, "encode");
  if (const Json* name = encode.find("prompt_name")) {
    variant.options.prompt_name = std::string(name->as_string().value());
  }
  if (const Json* prompt = encode.find("prompt")) {
    variant.options.prompt = std::string(prompt->as_string().value());
  }
  if (const Json* n = encode.find("dimensions")) variant.options.dimensions = n->as_int().value();
  if (const Json* same = json.find("same_as")) variant.same_as = same->as_string().value();
  return variant;
}

}  // namespace

std::vector<double> GoldenFile::tap(std::size_t index, const std::string& name) const {
  return read_doubles(read_tensor(tensors, fmt::format("tap.{}.{}", index, name)));
}

std::vector<std::string> GoldenFile::texts() const {
  std::vector<std::string> texts;
  for (const GoldenCase& c : cases) texts.push_back(c.text);
  return texts;
}

GoldenFile load_golden(const std::filesystem::path& stem) {
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(stem.string() + ".json"));
  const Json& root = document.root();
  GoldenFile golden;
  golden.max_seq_length = member(root, "max_seq_length").as_int().value();
  for (const Json& item : member(root, "cases").items()) golden.cases.push_back(parse_case(item));
  if (const Json* taps = root.find("taps")) golden.taps = to_integers<std::size_t>(*taps);
  if (const Json* rankings = root.find("rankings")) {
    for (const Json& item : rankings->items()) {
      golden.rankings.push_back(
          {to_size(member(item, "query")), to_integers<std::size_t>(member(item, "top"))});
    }
  }
  golden.tensors = stem.string() + ".safetensors";
  const Tensor embedding = read_tensor(golden.tensors, "embedding");
  golden.dimensions = static_cast<std::size_t>(embedding.dim(1));
  golden.embeddings = read_doubles(embedding);
  return golden;
}

const std::vector<TinyVariant>& tiny_variants() {
  static const std::vector<TinyVariant> variants = [] {
    std::vector<TinyVariant> all;
    for (const char* manifest : {"manifest.json", "manifest_qwen3.json"}) {
      const JsonDocument document =
          value_or_throw(JsonDocument::parse_file(golden_dir() / "tiny" / manifest));
      for (const Json& item : member(document.root(), "variants").items()) {
        all.push_back(parse_variant(item));
      }
    }
    return all;
  }();
  return variants;
}

const TinyVariant& tiny_variant(const std::string& name) {
  for (const TinyVariant& variant : tiny_variants()) {
    if (variant.name == name) return variant;
  }
  raise(ErrorCode::kNotFound, "no tiny variant {}", name);
}

std::vector<std::string> golden_texts() {
  std::ifstream file(golden_dir() / "texts.jsonl", std::ios::binary);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    const JsonDocument row = value_or_throw(JsonDocument::parse(line, "texts.jsonl"));
    texts.emplace_back(member(row.root(), "text").as_string().value());
  }
  return texts;
}

TokenizedText tokenized(const GoldenCase& c) { return {c.ids, c.type_ids, c.truncated}; }

double max_abs_difference(const Embeddings& embeddings, const GoldenFile& golden) {
  if (embeddings.size() != golden.cases.size() || embeddings.dimensions() != golden.dimensions) {
    return std::numeric_limits<double>::infinity();
  }
  double greatest = 0;
  for (std::size_t i = 0; i < embeddings.size(); ++i) {
    for (std::size_t d = 0; d < golden.dimensions; ++d) {
      greatest = std::max(greatest,
                          std::abs(static_cast<double>(embeddings[i][d]) - golden.embedding(i)[d]));
    }
  }
  return greatest;
}

}  // namespace lattice
