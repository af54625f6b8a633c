#include "io/weight_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "base/log.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array<float, 6> kA = {1, 2, 3, 4, 5, 6};
constexpr std::array<float, 4> kB = {-1, -2, -3, -4};

class WeightFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view message) { warnings_ += message; });
  }
  void TearDown() override { set_log_sink({}); }

  /// Two shards: "a" and "b".
  void write_sharded() {
    dir_.write("model-00001-of-00002.safetensors",
               SafetensorsBuilder().add_f32("a", {2, 3}, kA).bytes());
    dir_.write("model-00002-of-00002.safetensors",
               SafetensorsBuilder().add_f32("b", {4}, kB).bytes());
    write_index(R"("a":"model-00001-of-00002.safetensors",)"
                R"("b":"model-00002-of-00002.safetensors")");
  }

  void write_index(std::string_view map) {
    dir_.write("model.safetensors.index.json",
               fmt::format(R"({{"metadata":{{"total_size":40}},"weight_map":{{{}}}}})", map));
  }

  Error refusal() {
    const auto files = WeightFiles::open(dir_.path());
    if (files) return {ErrorCode::kInternal, "accepted"};
    return files.error();
  }

  TempDir dir_;
  std::string warnings_;
};

TEST_F(WeightFilesTest, ShardedEqualsSingle) {
  write_sharded();
  TempDir single_dir;
  single_dir.write("model.safetensors",
                   SafetensorsBuilder().add_f32("b", {4}, kB).add_f32("a", {2, 3}, kA).bytes());
  const auto sharded = WeightFiles::open(dir_.path());
  const auto single = WeightFiles::open(single_dir.path());
  ASSERT_TRUE(sharded) << sharded.error().message;
  ASSERT_TRUE(single) << single.error().message;
  EXPECT_EQ(sharded->names(), single->names());
  EXPECT_THAT(single->names(), ElementsAre("a", "b"));
  EXPECT_EQ(sharded->total_bytes().value(), 40u);
  EXPECT_EQ(single->total_bytes().value(), 40u);
  EXPECT_EQ(sharded->files().size(), 2u);
  for (const std::string& name : single->names()) {
    const Tensor a = sharded->require(name).value();
    const Tensor b = single->require(name).value();
    EXPECT_EQ(a.dtype(), b.dtype());
    EXPECT_EQ(a.shape(), b.shape());
    ASSERT_EQ(a.num_bytes(), b.num_bytes());
    EXPECT_EQ(std::memcmp(a.bytes().data(), b.bytes().data(), a.num_bytes()), 0);
  }
}

TEST_F(WeightFilesTest, SingleFileWinsOverAnIndexAndSaysSo) {
  write_sharded();
  dir_.write("model.safetensors", SafetensorsBuilder().add_f32("c", {4}, kB).bytes());
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(files->names(), ElementsAre("c"));
  EXPECT_THAT(warnings_, HasSubstr("model.safetensors.index.json is ignored"));
}

// sgl-project/sglang PR#32279
TEST_F(WeightFilesTest, FieldBug66MissingShardIsAnErrorThatListsNames) {
  write_sharded();
  std::filesystem::remove(dir_ / "model-00002-of-00002.safetensors");
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("1 of 2 shards are missing: "
                                       "\"model-00002-of-00002.safetensors\"; they hold \"b\""));
}

TEST_F(WeightFilesTest, ShardThatVanishesLaterIsAnError) {
  write_sharded();
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files);
  std::filesystem::remove(dir_ / "model-00002-of-00002.safetensors");
  EXPECT_TRUE(files->require("a"));
  EXPECT_EQ(files->require("b").error().code, ErrorCode::kNotFound);
}

TEST_F(WeightFilesTest, ShardsOpenOnDemand) {
  write_sharded();
  dir_.write("model-00002-of-00002.safetensors", "damaged");
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_TRUE(files->require("a"));
  EXPECT_EQ(files->require("b").error().code, ErrorCode::kMalformed);
  EXPECT_FALSE(files->total_bytes());
}

TEST_F(WeightFilesTest, TensorThatItsShardLacksIsAnError) {
  write_sharded();
  write_index(R"("a":"model-00002-of-00002.safetensors","b":"model-00002-of-00002.safetensors")");
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files) << files.error().message;
  const auto missing = files->find("a");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kMalformed);
  EXPECT_THAT(missing.error().message,
              HasSubstr("weight_map[\"a\"]: the shard model-00002-of-00002.safetensors does not "
                        "hold this tensor"));
}

TEST_F(WeightFilesTest, IndexDecidesWhichOfTwoCopiesIsRead) {
  write_sharded();
  dir_.write("model-00002-of-00002.safetensors",
             SafetensorsBuilder().add_f32("a", {4}, kB).add_f32("b", {4}, kB).bytes());
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->require("a")->shape(), (Shape{2, 3}));
}

TEST_F(WeightFilesTest, StaleShardIsIgnoredAndNamed) {
  write_sharded();
  dir_.write("model-00003-of-00003.safetensors",
             SafetensorsBuilder().add_f32("old", {4}, kB).bytes());
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files);
  EXPECT_FALSE(files->contains("old"));
  EXPECT_FALSE(files->find("old").value().has_value());
  EXPECT_THAT(warnings_, HasSubstr("model-00003-of-00003.safetensors is not in the index"));
}

TEST_F(WeightFilesTest, MissingTensorsAreListed) {
  write_sharded();
  const auto files = WeightFiles::open(dir_.path());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->require("c").error().code, ErrorCode::kNotFound);
  const std::array<std::string, 3> wanted = {"a", "c", "d"};
  const auto status = files->require_all(wanted);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("2 tensors are missing: \"c\", \"d\""));
  EXPECT_TRUE(files->require_all(std::span(wanted).first(1)));
}

// An earlier implementation: "shard index naming ../../x"
TEST_F(WeightFilesTest, FieldBugShardPathsThatLeaveTheDirectoryAreRefused) {
  const std::array<std::string_view, 8> names = {
      "../../x.safetensors",  "/etc/x.safetensors",     "a/../../x.safetensors", "..", "",
      R"(..\\x.safetensors)", R"(x\u0000.safetensors)", "a/../b.safetensors"};
  for (const std::string_view name : names) {
    write_index(fmt::format(R"("w":"{}")", name));
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << name;
    EXPECT_THAT(error.message, HasSubstr("weight_map[\"w\"]: expected a name inside"));
  }
}

TEST_F(WeightFilesTest, RefusesAMalformedIndex) {
  const std::array<std::pair<std::string_view, std::string_view>, 9> cases = {{
      {"{", "invalid JSON"},
      {"[]", "expected a JSON object, got array"},
      {"{}", "weight_map: expected an object of tensor names and shards, got nothing"},
      {R"({"weight_map":{}})", "got an empty one"},
      {R"({"weight_map":["a"]})", "got array"},
      {R"({"weight_map":{"a":1}})", "weight_map[\"a\"]: expected a file name, got integer"},
      {R"({"weight_map":{"a":"x.bin"}})", "expected a .safetensors file, got \"x.bin\""},
      {R"({"weight_map":{"a":"x.safetensors","a":"y.safetensors"}})", "occurs twice"},
      {R"({"weight_map":{"a":"x.safetensors"},"weight_map":{}})", "weight_map occurs twice"},
  }};
  for (const auto& [text, expected] : cases) {
    dir_.write("model.safetensors.index.json", text);
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << text;
    EXPECT_THAT(error.message, HasSubstr(expected));
    EXPECT_THAT(error.message, HasSubstr("model.safetensors.index.json"));
  }
}

TEST_F(WeightFilesTest, OtherFormatsAreRefusedByNameWithAdvice) {
  for (const char* name :
       {"pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "model.gguf", "onnx/model.onnx",
        "tf_model.h5", "flax_model.msgpack", "adapter_model.safetensors"}) {
    TempDir dir;
    dir.write(name, "x");
    const auto files = WeightFiles::open(dir.path());
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(files.error().message, HasSubstr(fmt::format("found only {}", name)));
    EXPECT_THAT(files.error().message, HasSubstr("safe_serialization=True"));
  }
  EXPECT_EQ(refusal().code, ErrorCode::kNotFound);
  EXPECT_EQ(WeightFiles::open(dir_ / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(WeightFiles::open(dir_.write("file", "x")).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(WeightFilesTest, HubCacheSnapshotOfSymbolicLinksLoads) {
  const std::string bytes = SafetensorsBuilder().add_f32("a", {2, 3}, kA).bytes();
  dir_.write("blobs/0123", bytes);
  dir_.write("blobs/4567", R"({"weight_map":{"a":"model-00001-of-00001.safetensors"}})");
  for (const char* snapshot : {"snapshots/single", "snapshots/sharded"}) {
    std::filesystem::create_directories(dir_ / snapshot);
  }
  std::filesystem::create_symlink("../../blobs/0123", dir_ / "snapshots/single/model.safetensors");
  std::filesystem::create_symlink("../../blobs/0123",
                                  dir_ / "snapshots/sharded/model-00001-of-00001.safetensors");
  std::filesystem::create_symlink("../../blobs/4567",
                                  dir_ / "snapshots/sharded/model.safetensors.index.json");
  for (const char* snapshot : {"snapshots/single", "snapshots/sharded"}) {
    const auto files = WeightFiles::open(dir_ / snapshot);
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_TRUE(files->require("a"));
  }
}

TEST_F(WeightFilesTest, ManyThreadsOpenTheSameShards) {
  write_sharded();
  for (int round = 0; round < 20; ++round) {
    const auto files = WeightFiles::open(dir_.path());
    ASSERT_TRUE(files);
    std::atomic<int> failures = 0;
    std::array<const std::byte*, 8> seen = {};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t) {
      threads.emplace_back([&, t] {
        const auto a = files->require(t % 2 == 0 ? "a" : "b");
        const auto b = files->require("b");
        if (!a || !b || !files->total_bytes()) ++failures;
        if (b) seen[t] = b->bytes().data();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
    EXPECT_THAT(seen, ::testing::Each(seen[0]));
  }
}

}  // namespace
}  // namespace lattice
