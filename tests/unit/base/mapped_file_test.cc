#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "base/bytes.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

TEST(MappedFile, ShowsTheFilesBytesAndSurvivesItsRemoval) {
  TempDir dir;
  const auto path = dir.write("f", std::string("a\0b", 3));
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->path(), path);
  std::filesystem::remove(path);
  EXPECT_EQ(as_text(file->bytes()), std::string_view("a\0b", 3));
}

TEST(MappedFile, EmptyFileIsEmpty) {
  TempDir dir;
  const auto file = MappedFile::open(dir.write("f", ""));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->bytes().empty());
  file->discard_pages(file->bytes());
}

TEST(MappedFile, MovesOwnership) {
  TempDir dir;
  auto first = MappedFile::open(dir.write("a", "first"));
  auto second = MappedFile::open(dir.write("b", "second"));
  ASSERT_TRUE(first && second);
  MappedFile moved = std::move(*first);
  EXPECT_EQ(as_text(moved.bytes()), "first");
  moved = std::move(*second);
  EXPECT_EQ(as_text(moved.bytes()), "second");
}

TEST(MappedFile, DiscardedPagesComeBackUnchanged) {
  TempDir dir;
  std::string content(100'000, 'x');
  content[50'000] = 'y';
  const auto file = MappedFile::open(dir.write("f", content));
  ASSERT_TRUE(file);
  EXPECT_EQ(as_text(file->bytes()), content);
  // Unaligned ranges, a range inside one page, none, and everything.
  file->discard_pages(file->bytes().subspan(1, 99'000));
  file->discard_pages(file->bytes().subspan(5, 3));
  file->discard_pages(file->bytes().subspan(7, 0));
  file->discard_pages(file->bytes());
  EXPECT_EQ(as_text(file->bytes()), content);
}

TEST(MappedFile, ErrorsNameThePath) {
  TempDir dir;
  const auto missing = MappedFile::open(dir / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(missing.error().message.starts_with((dir / "none").string() + ": "));
  EXPECT_EQ(MappedFile::open(dir.path()).error().code, ErrorCode::kMalformed);
  EXPECT_EQ(MappedFile::open("/dev/null").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(MappedFile::open(dir.write("f", "x") / "below").error().code, ErrorCode::kIo);
}

TEST(MappedFile, APipeIsRefusedWithoutWaitingForItsWriter) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto file = MappedFile::open(dir / "pipe");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kMalformed);
}

}  // namespace
}  // namespace lattice
