#include "io/atomic_directory.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

std::size_t num_entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(AtomicDirectory, AppearsCompleteOrNotAtAll) {
  const TempDir dir;
  {
    auto made = AtomicDirectory::create(dir / "out");
    ASSERT_TRUE(made) << made.error().message;
    fs::create_directory(made->path() / "sub");
    write(made->path() / "sub/file", "text");
    EXPECT_FALSE(fs::exists(dir / "out"));
    ASSERT_TRUE(made->commit());
  }
  EXPECT_EQ(read_file(dir / "out/sub/file"), "text");
  EXPECT_EQ(num_entries(dir.path()), 1u);
}

TEST(AtomicDirectory, LeavesNothingWithoutCommit) {
  const TempDir dir;
  {
    auto made = AtomicDirectory::create(dir / "out");
    write(made->path() / "file", "text");
    const AtomicDirectory moved = std::move(*made);
    EXPECT_TRUE(fs::exists(moved.path() / "file"));
  }
  EXPECT_EQ(num_entries(dir.path()), 0u);
}

TEST(AtomicDirectory, TakesTheNameOfAnEmptyDirectoryOnly) {
  const TempDir dir;
  fs::create_directory(dir / "empty");
  auto made = AtomicDirectory::create(dir / "empty");
  ASSERT_TRUE(made) << made.error().message;
  write(made->path() / "file", "text");
  ASSERT_TRUE(made->commit());
  EXPECT_EQ(AtomicDirectory::create(dir / "empty").error().code, ErrorCode::kInvalidArgument);
  dir.write("file", "");
  EXPECT_EQ(AtomicDirectory::create(dir / "file").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(AtomicDirectory::create(dir / "none/out").error().code, ErrorCode::kIo);
  EXPECT_EQ(num_entries(dir.path()), 2u);
}

TEST(AtomicDirectory, WhatSomebodyElseMadeMeanwhileStays) {
  const TempDir dir;
  {
    auto made = AtomicDirectory::create(dir / "out");
    dir.write("out/theirs", "text");
    const auto status = made->commit();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
  }
  EXPECT_EQ(read_file(dir / "out/theirs"), "text");
  EXPECT_EQ(num_entries(dir.path()), 1u);
}

}  // namespace
}  // namespace lattice
