#include "engine/module_list.h"

#include <gtest/gtest.h>

#include "base/result.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

std::string module(const std::string& type, const std::string& path) {
  return "{\"idx\":0,\"name\":\"n\",\"path\":\"" + path + "\",\"type\":\"" + type + "\"}";
}

class ModuleList : public testing::Test {
 protected:
  ModuleList() {
    dir_.write("1_Pooling/config.json", "{}");
    dir_.write("2_Dense/config.json", "{}");
  }
  std::vector<ModuleEntry> load(const std::string& json) {
    dir_.write("modules.json", json);
    return load_module_list(value_or_throw(ModelDirectory::open(dir_.path())));
  }
  void expect_refused(const std::string& json, ErrorCode code, const std::string& names) {
    try {
      check_embedding_modules(load(json), "modules.json");
      ADD_FAILURE() << json << " was accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
    }
  }
  TempDir dir_;
};

TEST_F(ModuleList, ClassesAreKnownByTheirLastComponent) {
  const auto modules = load(
      "[" + module("sentence_transformers.base.modules.transformer.Transformer", "") + "," +
      module("sentence_transformers.sentence_transformer.modules.pooling.Pooling", "1_Pooling") +
      "," + module("sentence_transformers.base.modules.dense.Dense", "2_Dense") + "," +
      module("sentence_transformers.models.Normalize", "3_Normalize") + "]");
  ASSERT_EQ(modules.size(), 4u);
  EXPECT_EQ(modules[1].kind, ModuleKind::kPooling);
  EXPECT_EQ(modules[2].kind, ModuleKind::kDense);
  EXPECT_EQ(modules[3].kind, ModuleKind::kNormalize);  // its folder need not exist
}

TEST_F(ModuleList, AbsentFileIsEmpty) {
  EXPECT_TRUE(load_module_list(value_or_throw(ModelDirectory::open(dir_.path()))).empty());
}

TEST_F(ModuleList, UnknownClassIsRefusedByName) {
  expect_refused(
      "[" + module("x.Transformer", "") + "," + module("x.WordWeights", "1_Pooling") + "]",
      ErrorCode::kUnsupported, "WordWeights");
}

TEST_F(ModuleList, PathsNeverLeaveTheDirectory) {
  expect_refused("[" + module("x.Transformer", "") + "," + module("x.Pooling", "../other") + "]",
                 ErrorCode::kMalformed, "..");
  expect_refused("[" + module("x.Transformer", "") + "," + module("x.Pooling", "/etc") + "]",
                 ErrorCode::kMalformed, "/etc");
}

TEST_F(ModuleList, TheChainMustStartWithTransformerAndPooling) {
  expect_refused("[" + module("x.Transformer", "") + "]", ErrorCode::kMalformed, "Pooling");
  expect_refused("{}", ErrorCode::kMalformed, "array");
}

}  // namespace
}  // namespace lattice
