// A quantized copy of a model is the model quantized when loaded, bit for bit; nothing else in the
// directory changes, and no failure leaves half a copy.
#include "engine/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/result.h"
#include "io/weight_files.h"
#include "lattice/model.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kTexts = {"the cat sat on the mat", "", "first text",
                                         "the moon is full, and the tea is late"};

fs::path cross_directory(const std::string& name) {
  return fs::path(LATTICE_TEST_DATA_DIR) / "golden" / "cross" / name;
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void expect_same_bits(std::span<const float> got, std::span<const float> expected) {
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0);
}

std::string test_name(const ::testing::TestParamInfo<const char*>& model) {
  std::string name = model.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

class Quantize : public ::testing::Test {
 protected:
  fs::path out() const { return dir_ / "out"; }

  void expect_refused(const fs::path& source, const fs::path& target, ErrorCode code,
                      const std::vector<std::string>& names) {
    const std::vector<std::string> before = entries(dir_.path());
    try {
      quantize_model(source, target);
      ADD_FAILURE() << "accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& name : names) EXPECT_THAT(error.what(), HasSubstr(name));
    }
    EXPECT_EQ(entries(dir_.path()), before);
  }

  TempDir dir_;
};

class QuantizedEmbeddings : public Quantize, public ::testing::WithParamInterface<const char*> {};

TEST_P(QuantizedEmbeddings, AreThoseOfTheModelQuantizedWhenLoaded) {
  const fs::path source = tiny_directory(GetParam());
  const QuantizeReport report = quantize_model(source, out());
  EXPECT_GT(report.num_quantized, 0);
  EXPECT_GT(report.num_kept, 0);
  for (const char* device : {"cpu", "reference"}) {
    const Model loaded = Model::from_directory(source, {.device = device, .dtype = "q8_0"});
    const Model stored = Model::from_directory(out(), {.device = device});
    EXPECT_EQ(stored.info().stored_dtype, "Q8_0");
    EXPECT_EQ(stored.info().compute_dtype, "q8_0");
    EXPECT_EQ(stored.info().num_parameters, loaded.info().num_parameters);
    expect_same_bits(stored.embed(kTexts).values(), loaded.embed(kTexts).values());
  }
  const Embeddings exact = Model::from_directory(source).embed(kTexts);
  for (const char* dtype : {"f32", "bf16"}) {
    const Model stored = Model::from_directory(out(), {.dtype = dtype});
    EXPECT_EQ(stored.info().compute_dtype, dtype);
    const Embeddings got = stored.embed(kTexts);
    for (std::size_t i = 0; i < exact.values().size(); ++i) {
      ASSERT_NEAR(got.values()[i], exact.values()[i], 0.05f) << dtype << " value " << i;
    }
  }
}

// K of 20, 32, 36, 80 and more; stored in f32, f16 and bf16; sharded; with Dense modules; old
// tensor names.
INSTANTIATE_TEST_SUITE_P(Tiny, QuantizedEmbeddings,
                         ::testing::Values("bert-mean", "bert-bf16", "bert-f16", "bert-head-dim-20",
                                           "bert-sharded", "bert-concat-dense", "bert-prefix-gamma",
                                           "xlmr-prefix", "qwen3-base", "qwen3-f16",
                                           "qwen3-sharded", "qwen3-untied", "qwen3-tied-own-head",
                                           "qwen3-head-dim-80"),
                         test_name);

class QuantizedRanking : public Quantize, public ::testing::WithParamInterface<const char*> {};

TEST_P(QuantizedRanking, IsThatOfTheModelQuantizedWhenLoaded) {
  const fs::path source = cross_directory(GetParam());
  quantize_model(source, out());
  const Model loaded = Model::from_directory(source, {.dtype = "q8_0"});
  const Model stored = Model::from_directory(out());
  const auto expected = loaded.rerank("the cat", kTexts);
  const auto got = stored.rerank("the cat", kTexts);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].index, expected[i].index);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got[i].logit),
              std::bit_cast<std::uint32_t>(expected[i].logit));
  }
}

INSTANTIATE_TEST_SUITE_P(Cross, QuantizedRanking,
                         ::testing::Values("bert-1-label", "bert-sharded", "bert-modular-dense",
                                           "xlmr-1-label", "qwen3-causal-plain",
                                           "qwen3-causal-untied", "qwen3-logit-score",
                                           "qwen3-logit-score-untied", "qwen3-seq-cls"),
                         test_name);

std::vector<std::string> quantized_names(const fs::path& directory) {
  const WeightFiles weights = value_or_throw(WeightFiles::open(directory));
  std::vector<std::string> names;
  for (const std::string& name : weights.names()) {
    if (value_or_throw(weights.require(name)).dtype() == DType::kQ8_0) names.push_back(name);
  }
  return names;
}

TEST_F(Quantize, LinearLayersAndTheTokenTableAreQuantized) {
  quantize_model(cross_directory("bert-1-label"), out());
  for (const std::string& name : quantized_names(out())) {
    EXPECT_TRUE(name.ends_with("word_embeddings.weight") || name.ends_with("query.weight") ||
                name.ends_with("key.weight") || name.ends_with("value.weight") ||
                (name.ends_with("dense.weight") && name.find("pooler") == name.npos))
        << name;
  }
  EXPECT_EQ(quantized_names(out()).size() % 6, 1u);  // six a layer, and the table

  quantize_model(cross_directory("qwen3-causal-untied"), dir_ / "untied");
  EXPECT_THAT(quantized_names(dir_ / "untied"), ::testing::Contains("lm_head.weight"));
  quantize_model(cross_directory("qwen3-seq-cls"), dir_ / "seq");
  EXPECT_THAT(quantized_names(dir_ / "seq"), ::testing::Not(::testing::Contains("score.weight")));
}

TEST_F(Quantize, OtherTensorsAreCopiedByteForByte) {
  for (const char* name : {"bert-f16", "bert-sharded", "qwen3-base"}) {
    const fs::path target = dir_ / name;
    const QuantizeReport report = quantize_model(tiny_directory(name), target);
    const WeightFiles before = value_or_throw(WeightFiles::open(tiny_directory(name)));
    const WeightFiles after = value_or_throw(WeightFiles::open(target));
    EXPECT_EQ(after.names(), before.names());
    std::int64_t num_kept = 0;
    for (const std::string& tensor_name : before.names()) {
      const Tensor old = value_or_throw(before.require(tensor_name));
      const Tensor copy = value_or_throw(after.require(tensor_name));
      EXPECT_EQ(copy.shape(), old.shape());
      if (copy.dtype() == DType::kQ8_0) continue;
      ++num_kept;
      EXPECT_EQ(copy.dtype(), old.dtype()) << tensor_name;
      EXPECT_EQ(as_text(copy.bytes()), as_text(old.bytes())) << tensor_name;
      EXPECT_EQ(std::bit_cast<std::uintptr_t>(copy.bytes().data()) % dtype_size(copy.dtype()), 0u);
    }
    EXPECT_EQ(report.num_kept, num_kept);
    EXPECT_GT(report.bytes_after, value_or_throw(after.total_bytes()));
    EXPECT_LT(report.bytes_after, report.bytes_before);
  }
}

TEST_F(Quantize, TheConfigGetsOneMemberAndKeepsItsText) {
  const fs::path source = tiny_directory("bert-mean");
  quantize_model(source, out());
  std::string expected = read_file(source / "config.json");
  expected.insert(expected.find("\"vocab_size\": 200") + 17,
                  ",\n  \"quantization_config\": "
                  "{\"quant_method\":\"lattice\",\"format\":\"q8_0\",\"block_size\":32}");
  EXPECT_EQ(read_file(out() / "config.json"), expected);
}

TEST_F(Quantize, OtherFilesAreCopiedButForForeignWeights) {
  const ModelCopy source("bert-concat-dense");
  fs::remove(source.path() / "golden.safetensors");
  source.write("notes/deep/readme.md", "text");
  source.write("notes/empty", "");
  source.write("2_Dense/pytorch_model.bin", "module");
  source.write("pytorch_model.bin", "large");
  source.write("onnx/model.onnx", "large");
  source.write("model-00001-of-00009.safetensors", "stale");
  source.write("training_args.bin", "small");
  source.write(".cache/huggingface/lock", "hidden");
  fs::create_symlink(source.path() / "notes/deep/readme.md", source.path() / "linked.md");
  const QuantizeReport report = quantize_model(source.path(), out());
  EXPECT_THAT(report.skipped_files, ElementsAre("model-00001-of-00009.safetensors",
                                                "onnx/model.onnx", "pytorch_model.bin"));
  EXPECT_THAT(report.weight_files, ElementsAre("model.safetensors"));
  for (const char* file :
       {"tokenizer.json", "vocab.txt", "modules.json", "1_Pooling/config.json",
        "2_Dense/config.json", "2_Dense/model.safetensors", "2_Dense/pytorch_model.bin",
        "notes/deep/readme.md", "notes/empty", "linked.md", "training_args.bin"}) {
    EXPECT_EQ(read_file(out() / file), read_file(source.path() / file)) << file;
  }
  EXPECT_FALSE(fs::is_symlink(out() / "linked.md"));
  for (const char* file : {"pytorch_model.bin", "onnx/model.onnx", ".cache",
                           "model-00001-of-00009.safetensors", "golden.safetensors"}) {
    EXPECT_FALSE(fs::exists(out() / file)) << file;
  }
}

TEST_F(Quantize, ShardsStayShardsAndLargeFilesBecomeShards) {
  const QuantizeReport sharded = quantize_model(tiny_directory("qwen3-sharded"), out());
  EXPECT_THAT(sharded.weight_files,
              ElementsAre("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"));
  constexpr std::uint64_t kMax = 6000;
  const QuantizeReport split =
      quantize_model(tiny_directory("qwen3-base"), dir_ / "split", {.max_shard_bytes = kMax});
  EXPECT_GT(split.weight_files.size(), 2u);
  EXPECT_FALSE(fs::exists(dir_ / "split/model.safetensors"));
  for (const std::string& file : split.weight_files) {
    EXPECT_LT(fs::file_size(dir_ / "split" / file), 2 * kMax + 4000) << file;
  }
  const Model single = Model::from_directory(tiny_directory("qwen3-base"), {.dtype = "q8_0"});
  expect_same_bits(Model::from_directory(dir_ / "split").embed(kTexts).values(),
                   single.embed(kTexts).values());
}

TEST_F(Quantize, TheTargetMustBeNewOrEmptyAndOutsideTheModel) {
  const ModelCopy source("bert-mean");
  const auto invalid = ErrorCode::kInvalidArgument;
  for (const char* target : {"", ".", "new", "1_Pooling/new", "1_Pooling/../new"}) {
    expect_refused(source.path(), source.path() / target, invalid, {"outside the model's"});
  }
  EXPECT_FALSE(fs::exists(source.path() / "new"));
  fs::create_directory_symlink(source.path(), dir_ / "link");
  expect_refused(source.path(), dir_ / "link/new", invalid, {"outside the model's"});
  dir_.write("full/file", "text");
  expect_refused(source.path(), dir_ / "full", invalid, {"full", "not empty"});
  expect_refused(source.path(), dir_ / "full/file", invalid, {"got a file"});
  expect_refused(source.path(), dir_ / "none/new", ErrorCode::kIo, {"none/new"});
  expect_refused(dir_ / "nothing", out(), ErrorCode::kNotFound, {"nothing"});
  fs::create_directory(out());
  quantize_model(source.path(), out().string() + "/");
  EXPECT_EQ(Model::from_directory(out()).info().stored_dtype, "Q8_0");
}

TEST_F(Quantize, AQuantizedModelIsRefused) {
  quantize_model(tiny_directory("bert-mean"), out());
  expect_refused(out(), dir_ / "again", ErrorCode::kUnsupported,
                 {"config.json", "quantized already"});
  const ModelCopy gptq("bert-mean");
  gptq.replace("config.json", "\"use_cache\": true",
               "\"quantization_config\": {\"quant_method\": \"gptq\"}");
  expect_refused(gptq.path(), dir_ / "again", ErrorCode::kUnsupported, {"gptq"});
  const ModelCopy null("bert-mean");
  null.replace("config.json", "\"use_cache\": true", "\"quantization_config\": null");
  expect_refused(null.path(), dir_ / "again", ErrorCode::kUnsupported, {"is null"});
}

/// The copy with 32 values of one tensor replaced.
void fill_block(const ModelCopy& copy, const std::string& name, std::int64_t element, float value) {
  std::string bytes = read_file(copy.path() / "model.safetensors");
  const WeightFiles weights = value_or_throw(WeightFiles::open(copy.path()));
  const Tensor tensor = value_or_throw(weights.require(name));
  const std::size_t at =
      bytes.find(as_text(tensor.bytes())) + static_cast<std::size_t>(element) * 4;
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  fs::remove(copy.path() / "model.safetensors");
  copy.write("model.safetensors", bytes);
}

TEST_F(Quantize, ValuesThatBlocksCannotHoldAreRefusedAndNothingIsLeft) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 9e6f}) {
    const ModelCopy source("bert-mean");
    fill_block(source, "encoder.layer.1.output.dense.weight", 36 * 5 + 3, value);
    expect_refused(source.path(), out(), ErrorCode::kUnsupported,
                   {"encoder.layer.1.output.dense.weight", "row 5"});
    EXPECT_THAT(entries(dir_.path()), IsEmpty());
    // Quantized when loaded it is not silent either.
    const Model model = Model::from_directory(source.path(), {.dtype = "q8_0"});
    EXPECT_THROW(model.embed(kTexts), LatticeError);
  }
}

class QuantizedFaults : public Quantize {
 protected:
  void SetUp() override { quantize_model(tiny_directory("bert-mean"), out()); }

  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_file(out() / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    ASSERT_TRUE(file != "model.safetensors" || from.size() == to.size());
    dir_.write("out/" + file, text.replace(at, from.size(), to));
  }

  void expect_load_refused(const std::vector<std::string>& names) {
    try {
      Model::from_directory(out());
      ADD_FAILURE() << "accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMalformed) << error.what();
      for (const std::string& name : names) EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }

  const std::string tensor_ = "encoder.layer.0.output.dense.weight";
};

TEST_F(QuantizedFaults, ConfigWithoutTheMember) {
  replace("config.json", "\"quantization_config\"", "\"use_bfloat16\"");
  expect_load_refused({"model.safetensors", "tensor \"", "Q8_0", "config.json"});
}

TEST_F(QuantizedFaults, MemberWithoutTensors) {
  fs::copy_file(tiny_directory("bert-mean") / "model.safetensors", out() / "model.safetensors",
                fs::copy_options::overwrite_existing);
  expect_load_refused({"config.json", "quantization_config", "model.safetensors"});
}

TEST_F(QuantizedFaults, ATensorThatIsNotDeclared) {
  replace("model.safetensors", "lattice.q8_0." + tensor_, "nothing.q8_0." + tensor_);
  expect_load_refused({"model.safetensors", tensor_, "U8"});
}

TEST_F(QuantizedFaults, AnotherLogicalShape) {
  replace("model.safetensors", tensor_ + "\":\"[36, 36]\"", tensor_ + "\":\"[36, 37]\"");
  expect_load_refused({"model.safetensors", tensor_, "[36, 36]", "[36, 37]"});
}

TEST_F(QuantizedFaults, ALogicalShapeOfOtherBlocks) {
  replace("model.safetensors", tensor_ + "\":\"[36, 36]\"", tensor_ + "\":\"[36, 32]\"");
  expect_load_refused({"model.safetensors", tensor_, "[36, 32]", "[36, 68]"});
}

TEST_F(QuantizedFaults, ATruncatedFile) {
  fs::resize_file(out() / "model.safetensors", fs::file_size(out() / "model.safetensors") - 1);
  expect_load_refused({"model.safetensors", "truncated"});
}

}  // namespace
}  // namespace lattice
