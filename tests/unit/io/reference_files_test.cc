// Files that the reference implementation wrote (tests/golden), and what reading them costs.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "io/weight_files.h"
#include "support/rss.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

std::filesystem::path golden_directory() {
  return std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden";
}

TEST(ReferenceFiles, EverySafetensorsFileOpens) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_directory())) {
    if (entry.path().extension() != ".safetensors") continue;
    ++count;
    const auto file = SafetensorsFile::open(entry.path());
    ASSERT_TRUE(file) << file.error().message;
    std::uint64_t total = 0;
    for (const std::string& name : file->names()) {
      const auto tensor = file->require(name);
      ASSERT_TRUE(tensor) << tensor.error().message;
      total += tensor->num_bytes();
    }
    EXPECT_EQ(total, file->data_bytes());
  }
  EXPECT_GE(count, 40u);
}

TEST(ReferenceFiles, ShardedModelEqualsTheSingleFileBitForBit) {
  const auto sharded = WeightFiles::open(golden_directory() / "tiny/bert-sharded");
  const auto single = WeightFiles::open(golden_directory() / "tiny/bert-mean");
  ASSERT_TRUE(sharded) << sharded.error().message;
  ASSERT_TRUE(single) << single.error().message;
  EXPECT_EQ(sharded->files().size(), 2u);
  EXPECT_EQ(sharded->names(), single->names());
  EXPECT_EQ(sharded->total_bytes().value(), single->total_bytes().value());
  for (const std::string& name : single->names()) {
    const auto a = sharded->require(name);
    const auto b = single->require(name);
    ASSERT_TRUE(a && b) << name;
    EXPECT_EQ(a->shape(), b->shape());
    ASSERT_EQ(a->num_bytes(), b->num_bytes());
    EXPECT_EQ(std::memcmp(a->bytes().data(), b->bytes().data(), a->num_bytes()), 0) << name;
  }
}

/// Resident pages of file mappings (of a tmpfs, too).
std::uint64_t resident_file_bytes() {
  return process_memory_bytes("RssFile") + process_memory_bytes("RssShmem");
}

TEST(ReferenceFiles, OpeningReadsNothingAndDiscardGivesPagesBack) {
  if (!knows_process_memory()) GTEST_SKIP() << "hardware: no Linux, which counts resident pages";
  constexpr std::size_t kTensorBytes = std::size_t{8} << 20;
  constexpr int kTensors = 8;
  TempDir dir;
  {
    SafetensorsBuilder builder;
    const std::string data(kTensorBytes, 'x');
    for (int i = 0; i < kTensors; ++i) {
      builder.add(fmt::format("t{}", i), "U8", {kTensorBytes}, data);
    }
    dir.write("model.safetensors", builder.bytes());
  }
  const std::uint64_t before = resident_file_bytes();
  const auto files = WeightFiles::open(dir.path());
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_LT(resident_file_bytes(), before + kTensorBytes / 2);
  std::uint64_t highest = 0;
  std::vector<std::byte> copy(kTensorBytes);
  for (const std::string& name : files->names()) {
    const Tensor tensor = files->require(name).value();
    std::memcpy(copy.data(), tensor.bytes().data(), kTensorBytes);
    EXPECT_EQ(copy.back(), std::byte{'x'});
    highest = std::max(highest, resident_file_bytes());
    tensor.discard();
  }
  // One tensor at a time was resident (and pages around it), never the whole file.
  EXPECT_GE(highest, before + kTensorBytes / 2);
  EXPECT_LT(highest, before + 3 * kTensorBytes);
  EXPECT_LT(resident_file_bytes(), before + kTensorBytes);
}

}  // namespace
}  // namespace lattice
