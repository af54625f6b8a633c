#include "io/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace lattice {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::size_t files_in(const TempDir& dir) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    count += entry.exists() ? 1 : 0;
  }
  return count;
}

TEST(AtomicFile, TargetChangesOnlyAtCommit) {
  TempDir dir;
  const auto path = dir.write("out", "old");
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write(bytes_of("new ")));
  ASSERT_TRUE(file->write(bytes_of("content")));
  EXPECT_EQ(read_file(path), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path), "new content");
  EXPECT_EQ(files_in(dir), 1u);
}

TEST(AtomicFile, WithoutCommitNothingIsLeft) {
  TempDir dir;
  {
    auto file = AtomicFile::create(dir / "out");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(bytes_of("half")));
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.write(bytes_of("way")));
    EXPECT_EQ(files_in(dir), 1u);
  }
  EXPECT_EQ(files_in(dir), 0u);
}

TEST(AtomicFile, FailedRenameIsReportedAndLeavesNothing) {
  TempDir dir;
  auto file = AtomicFile::create(dir / "out");
  ASSERT_TRUE(file);
  std::filesystem::create_directory(dir / "out");
  dir.write("out/inside", "x");
  {
    AtomicFile moved = std::move(*file);
    const auto status = moved.commit();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
  }
  EXPECT_EQ(files_in(dir), 1u);
}

TEST(AtomicFile, RefusesWhatIsNotARegularFile) {
  TempDir dir;
  for (const auto& path : {dir.path(), dir.path() / "", std::filesystem::path("/dev/null")}) {
    const auto file = AtomicFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(AtomicFile::create(dir / "no/such/out").error().code, ErrorCode::kIo);
}

TEST(AtomicFile, WorksInTheCurrentDirectoryAndWithLongNames) {
  TempDir dir;
  const std::string name(255, 'n');
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  const auto status = write_file_atomically(name, "x");
  std::filesystem::current_path(before);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(read_file(dir / name), "x");
}

// An earlier implementation: "two savers shared one temporary name"
TEST(AtomicFile, FieldBugConcurrentSaversNeverMix) {
  TempDir dir;
  const auto path = dir / "out";
  const auto content = [](std::size_t t) {
    return std::string(10000 + t, static_cast<char>('a' + t));
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(write_file_atomically(path, content(t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string result = read_file(path);
  ASSERT_FALSE(result.empty());
  EXPECT_EQ(result, content(static_cast<std::size_t>(result[0] - 'a')));
  EXPECT_EQ(files_in(dir), 1u);
}

TEST(OutputFile, ReportsAFullDisk) {
  // /dev/full is no regular file, so a limit on the file size stands in for a full disk.
  TempDir dir;
  auto file = OutputFile::open(dir / "out", OutputFile::Mode::kTruncate);
  ASSERT_TRUE(file);
  const auto status = file->resize(std::uint64_t{1} << 62);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_TRUE(status.error().message.starts_with((dir / "out").string() + ": cannot resize: "));
}

TEST(OutputFile, ModesKeepTruncateOrRefuse) {
  TempDir dir;
  const auto path = dir.write("out", "abc");
  EXPECT_FALSE(OutputFile::open(path, OutputFile::Mode::kCreateNew));
  {
    auto file = OutputFile::open(path, OutputFile::Mode::kKeep);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write_at(1, bytes_of("X")));
    ASSERT_TRUE(file->resize(4));
    ASSERT_TRUE(file->write(bytes_of("end")));
    ASSERT_TRUE(file->close());
  }
  EXPECT_EQ(read_file(path), std::string("aXc\0end", 7));
  ASSERT_TRUE(OutputFile::open(path, OutputFile::Mode::kTruncate));
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(OutputFile::open(dir.path(), OutputFile::Mode::kKeep).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(OutputFile::open("/dev/null", OutputFile::Mode::kKeep).error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace lattice
