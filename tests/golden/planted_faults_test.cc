// The golden comparison must be able to fail: each fault planted in a copy of a model directory has
// to move its vectors clearly beyond the tolerance.
#include <gtest/gtest.h>

#include "base/result.h"
#include "engine/model_impl.h"
#include "golden/golden_file.h"
#include "io/safetensors.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

void copy_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy(
      from, to,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

/// How far the vectors of `directory` are from the variant's goldens.
double difference_of(const std::filesystem::path& directory, const TinyVariant& variant) {
  const GoldenFile golden = load_golden(variant.golden);
  std::vector<TokenizedText> texts;
  for (const GoldenCase& c : golden.cases) texts.push_back(tokenized(c));
  const Model model = Model::from_directory(directory);
  return max_abs_difference(model.impl().embedder().embed_tokenized(texts, {}), golden);
}

/// The difference after replacing the first `from` in one file of the model.
double difference(const std::string& variant_name, const std::string& file, const std::string& from,
                  const std::string& to) {
  const TinyVariant& variant = tiny_variant(variant_name);
  const TempDir copy;
  copy_directory(variant.directory, copy.path());
  std::string content = read_file(copy / file);
  const std::size_t at = content.find(from);
  if (at == std::string::npos) raise(ErrorCode::kNotFound, "{} holds no {}", file, from);
  copy.write(file, content.replace(at, from.size(), to));
  return difference_of(copy.path(), variant);
}

/// The difference after zeroing one tensor.
double difference_without(const std::string& variant_name, const std::string& tensor_name) {
  const TinyVariant& variant = tiny_variant(variant_name);
  const TempDir copy;
  copy_directory(variant.directory, copy.path());
  std::string bytes = read_file(copy / "model.safetensors");
  const SafetensorsFile original =
      value_or_throw(SafetensorsFile::open(variant.directory / "model.safetensors"));
  const Tensor tensor = value_or_throw(original.find(tensor_name)).value();
  const std::string_view data(reinterpret_cast<const char*>(tensor.bytes().data()),
                              tensor.num_bytes());
  const std::size_t at = bytes.find(data);
  if (at == std::string::npos) raise(ErrorCode::kNotFound, "no bytes of {}", tensor_name);
  copy.write("model.safetensors", bytes.replace(at, data.size(), data.size(), '\0'));
  return difference_of(copy.path(), variant);
}

// Far above the tolerance of 1e-5, so that a fault cannot hide near it.
constexpr double kNoticed = 1e-4;

TEST(PlantedFault, NoFaultIsWithinTheTolerance) {
  EXPECT_LE(difference("bert-mean", "config.json", "\"gelu\"", "\"gelu\""), 1e-5);
}

TEST(PlantedFault, DroppedBiasIsNoticed) {
  for (const char* tensor :
       {"encoder.layer.0.attention.self.query.bias", "encoder.layer.0.attention.self.value.bias",
        "encoder.layer.1.attention.output.dense.bias", "encoder.layer.0.intermediate.dense.bias",
        "encoder.layer.1.output.dense.bias", "encoder.layer.1.output.LayerNorm.bias"}) {
    EXPECT_GT(difference_without("bert-mean", tensor), kNoticed) << tensor;
  }
}

TEST(PlantedFault, TanhGeluIsNoticed) {
  EXPECT_GT(difference("bert-sqrt-len", "config.json", "\"gelu\"", "\"gelu_new\""), kNoticed);
}

TEST(PlantedFault, ExactGeluForTheTanhFormIsNoticed) {
  EXPECT_GT(difference("bert-gelu-new", "config.json", "\"gelu_new\"", "\"gelu\""), kNoticed);
}

TEST(PlantedFault, WrongEpsilonIsNoticed) {
  EXPECT_GT(difference("bert-eps-1e-5", "config.json", "1e-05", "1e-12"), kNoticed);
}

TEST(PlantedFault, ClsForMeanIsNoticed) {
  EXPECT_GT(
      difference("bert-mean", "1_Pooling/config.json", "cls_token\": false", "cls_token\": true"),
      kNoticed);
  EXPECT_GT(difference("bert-pooling-new", "1_Pooling/config.json", "\"mean\"", "\"cls\""),
            kNoticed);
}

TEST(PlantedFault, ShiftedPositionsAreNoticed) {
  EXPECT_GT(difference("xlmr-mean", "config.json", "\"pad_token_id\": 1", "\"pad_token_id\": 0"),
            kNoticed);
}

TEST(PlantedFault, MissingTypeEmbeddingIsNoticed) {
  EXPECT_GT(difference_without("bert-mean", "embeddings.token_type_embeddings.weight"), kNoticed);
}

}  // namespace
}  // namespace lattice
