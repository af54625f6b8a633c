#include "io/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/temp_dir.h"

namespace lattice {
namespace {

TEST(ModelDirectory, ResolvesModuleFolders) {
  TempDir dir;
  dir.write("1_Pooling/config.json", "{}");
  dir.write("config.json", "{}");
  const auto model = ModelDirectory::open(dir.path());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->has_file("config.json"));
  EXPECT_FALSE(model->has_file("1_Pooling"));
  EXPECT_FALSE(model->has_file("modules.json"));
  EXPECT_EQ(model->subdirectory("", "modules.json")->path(), dir.path());
  EXPECT_EQ(model->subdirectory(".", "modules.json")->path(), dir.path());
  const auto pooling = model->subdirectory("1_Pooling", "modules.json");
  ASSERT_TRUE(pooling) << pooling.error().message;
  EXPECT_TRUE(pooling->has_file("config.json"));
  EXPECT_TRUE(model->subdirectory("1_Pooling/", "modules.json"));
  EXPECT_EQ(model->resolve("2_Dense/x", "modules.json").value(), dir.path() / "2_Dense/x");
}

TEST(ModelDirectory, RefusesNamesThatEscape) {
  TempDir dir;
  const auto model = ModelDirectory::open(dir.path());
  ASSERT_TRUE(model);
  for (const std::string_view name :
       {std::string_view("/etc"), std::string_view(".."), std::string_view("a/../.."),
        std::string_view("../x"), std::string_view("a\\b"), std::string_view("a\0b", 3)}) {
    const auto sub = model->subdirectory(name, "modules.json");
    ASSERT_FALSE(sub) << name;
    EXPECT_EQ(sub.error().code, ErrorCode::kMalformed) << name;
    EXPECT_TRUE(sub.error().message.starts_with("modules.json: expected a name inside"));
    EXPECT_FALSE(model->resolve(name, "modules.json"));
  }
  EXPECT_FALSE(model->resolve("", "modules.json"));
}

TEST(ModelDirectory, MissingFoldersAreNamed) {
  TempDir dir;
  dir.write("file", "x");
  const auto model = ModelDirectory::open(dir.path());
  ASSERT_TRUE(model);
  const auto missing = model->subdirectory("2_Dense", "modules.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message,
            "modules.json: names the folder \"2_Dense\", which is missing");
  EXPECT_EQ(model->subdirectory("file", "modules.json").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ModelDirectory::open(dir / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ModelDirectory::open(dir / "file").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace lattice
