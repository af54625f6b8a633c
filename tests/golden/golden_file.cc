#include "golden/golden_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/result.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace lattice {
namespace {

const std::filesystem::path kGoldenDir = std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden";

const Json& member(const Json& object, const std::string& key) {
  const Json* value = object.find(key);
  if (value == nullptr) raise(ErrorCode::kMalformed, "golden: \"{}\" is missing", key);
  return *value;
}

std::size_t to_size(const Json& value) { return static_cast<std::size_t>(value.as_uint().value()); }

template <typename T>
std::vector<T> to_integers(const Json& array) {
  std::vector<T> values;
  for (const Json& item : array.items()) values.push_back(static_cast<T>(item.as_int().value()));
  return values;
}

std::vector<double> read_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.num_elements()));
  if (tensor.dtype() == DType::kF64) {
    const auto bytes = tensor.bytes();
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  std::vector<float> floats(values.size());
  tensor.copy_to_f32(0, floats);
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

Tensor read_tensor(const std::filesystem::path& file, const std::string& name) {
  const SafetensorsFile tensors = value_or_throw(SafetensorsFile::open(file));
  const std::optional<Tensor> tensor = value_or_throw(tensors.find(name));
  if (!tensor) raise(ErrorCode::kMalformed, "{}: no tensor {}", file.string(), name);
  return *tensor;
}

GoldenCase parse_case(const Json& json) {
  GoldenCase c;
  if (const Json* text = json.find("text")) c.text = text->as_string().value();
  if (const Json* pair = json.find("pair")) c.pair = std::string(pair->as_string().value());
  c.ids = to_integers<std::int32_t>(member(json, "ids"));
  const Json* types = json.find("model_type_ids");
  if (types == nullptr) types = json.find("type_ids");
  if (types != nullptr) c.type_ids = to_integers<std::int32_t>(*types);
  c.type_ids.resize(c.ids.size(), 0);
  c.num_tokens = to_size(member(json, "tokens"));
  c.truncated = member(json, "truncated").as_bool().value();
  return c;
}

TinyVariant parse_variant(const Json& json) {
  const std::filesystem::path root = kGoldenDir / "tiny";
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
          value_or_throw(JsonDocument::parse_file(kGoldenDir / "tiny" / manifest));
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
  std::ifstream file(kGoldenDir / "texts.jsonl", std::ios::binary);
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
