// Every way in which a model directory can be wrong is an error that names the file and the field.
// Each test damages a copy of a good directory.
#include <gtest/gtest.h>

#include "lattice/model.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

class ModelDirectoryFaults : public testing::Test {
 protected:
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    dir_.replace(file, from, to);
  }

  void expect_refused(ErrorCode code, const std::vector<std::string>& names) {
    try {
      Model::from_directory(dir_.path());
      ADD_FAILURE() << "the directory was accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& name : names) {
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos)
            << error.what() << " does not name " << name;
      }
    }
  }

  ModelCopy dir_{"bert-mean"};
};

TEST_F(ModelDirectoryFaults, TheUndamagedCopyLoads) {
  EXPECT_EQ(Model::from_directory(dir_.path()).info().hidden_size, 36);
}

TEST_F(ModelDirectoryFaults, MissingConfigIsNeverAnotherModelsShape) {
  std::filesystem::remove(dir_.path() / "config.json");
  expect_refused(ErrorCode::kNotFound, {"config.json"});
}

TEST_F(ModelDirectoryFaults, MissingDirectory) {
  EXPECT_THROW(Model::from_directory(dir_.path() / "nothing"), LatticeError);
}

TEST_F(ModelDirectoryFaults, ZeroHeads) {
  replace("config.json", "\"num_attention_heads\": 3", "\"num_attention_heads\": 0");
  expect_refused(ErrorCode::kMalformed, {"config.json", "num_attention_heads", "0"});
}

TEST_F(ModelDirectoryFaults, HeadsThatDoNotDivide) {
  replace("config.json", "\"num_attention_heads\": 3", "\"num_attention_heads\": 5");
  expect_refused(ErrorCode::kMalformed, {"num_attention_heads", "36", "5"});
}

TEST_F(ModelDirectoryFaults, HugeIntegers) {
  replace("config.json", "\"hidden_size\": 36", "\"hidden_size\": 18446744073709551615");
  expect_refused(ErrorCode::kMalformed, {"hidden_size", "18446744073709551615"});
}

TEST_F(ModelDirectoryFaults, DuplicateKeys) {
  replace("config.json", "\"hidden_size\": 36", "\"hidden_size\": 36, \"hidden_size\": 36");
  expect_refused(ErrorCode::kMalformed, {"hidden_size", "twice"});
}

TEST_F(ModelDirectoryFaults, MissingField) {
  replace("config.json", "\"vocab_size\": 200", "\"x\": 200");
  expect_refused(ErrorCode::kMalformed, {"vocab_size", "missing"});
}

TEST_F(ModelDirectoryFaults, UnknownActivation) {
  replace("config.json", "\"gelu\"", "\"mish2\"");
  expect_refused(ErrorCode::kUnsupported, {"hidden_act", "mish2"});
}

TEST_F(ModelDirectoryFaults, RelativePositions) {
  replace("config.json", "\"absolute\"", "\"relative_key_query\"");
  expect_refused(ErrorCode::kUnsupported, {"position_embedding_type", "relative_key_query"});
}

TEST_F(ModelDirectoryFaults, UnsupportedQuantization) {
  replace("config.json", "\"use_cache\": true",
          "\"quantization_config\": {\"quant_method\": \"gptq\"}");
  expect_refused(ErrorCode::kUnsupported, {"quantization_config"});
}

TEST_F(ModelDirectoryFaults, DecoderFlag) {
  replace("config.json", "\"use_cache\": true", "\"is_decoder\": true");
  expect_refused(ErrorCode::kUnsupported, {"is_decoder"});
}

TEST_F(ModelDirectoryFaults, UnknownArchitectureIsRefusedByNameWithAdvice) {
  replace("config.json", "BertModel", "DistilBertModel");
  replace("config.json", "\"model_type\": \"bert\"", "\"model_type\": \"distilbert\"");
  expect_refused(ErrorCode::kUnsupported, {"DistilBertModel", "BertModel"});
}

TEST_F(ModelDirectoryFaults, ShapeThatContradictsTheConfig) {
  replace("config.json", "\"intermediate_size\": 36", "\"intermediate_size\": 48");
  expect_refused(ErrorCode::kMalformed, {"intermediate", "[48, 36]", "[36, 36]"});
}

TEST_F(ModelDirectoryFaults, MissingTensorIsNamed) {
  replace("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
  expect_refused(ErrorCode::kNotFound, {"encoder.layer.2.attention"});
}

TEST_F(ModelDirectoryFaults, TruncatedWeights) {
  const std::string bytes = read_file(dir_.path() / "model.safetensors");
  dir_.write("model.safetensors", bytes.substr(0, bytes.size() / 2));
  expect_refused(ErrorCode::kMalformed, {"model.safetensors"});
}

TEST_F(ModelDirectoryFaults, OnlyPytorchBin) {
  std::filesystem::rename(dir_.path() / "model.safetensors", dir_.path() / "pytorch_model.bin");
  expect_refused(ErrorCode::kUnsupported, {"pytorch_model.bin", "safetensors"});
}

TEST_F(ModelDirectoryFaults, MissingTokenizer) {
  std::filesystem::remove(dir_.path() / "tokenizer.json");
  std::filesystem::remove(dir_.path() / "vocab.txt");
  expect_refused(ErrorCode::kNotFound, {"tokenizer.json"});
}

TEST_F(ModelDirectoryFaults, BrokenPoolingFile) {
  dir_.write("1_Pooling/config.json", "{\"pooling_mode\": \"median\"}");
  expect_refused(ErrorCode::kUnsupported, {"1_Pooling/config.json", "median"});
}

TEST_F(ModelDirectoryFaults, MissingPoolingFile) {
  std::filesystem::remove(dir_.path() / "1_Pooling/config.json");
  expect_refused(ErrorCode::kNotFound, {"1_Pooling"});
}

TEST_F(ModelDirectoryFaults, UnavailableDeviceIsAnErrorNotAFallback) {
  for (const char* device : {"cuda", "metal", "gpu0"}) {
    try {
      Model::from_directory(dir_.path(), {.device = device});
      ADD_FAILURE() << device << " was accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
      EXPECT_NE(std::string(error.what()).find(device), std::string::npos);
    }
  }
}

TEST_F(ModelDirectoryFaults, UnknownDtype) {
  EXPECT_THROW(Model::from_directory(dir_.path(), {.dtype = "f8"}), LatticeError);
}

// A user's own links, as in the hub's cache, are followed.
TEST_F(ModelDirectoryFaults, SymbolicLinksLoad) {
  const TempDir blobs;
  std::filesystem::rename(dir_.path() / "model.safetensors", blobs / "abc");
  std::filesystem::create_symlink(blobs / "abc", dir_.path() / "model.safetensors");
  EXPECT_EQ(Model::from_directory(dir_.path()).info().hidden_size, 36);
}

}  // namespace
}  // namespace lattice
