#include "io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "support/temp_dir.h"

namespace lattice {
namespace {

constexpr std::array<float, 6> kRows = {1, 2, 3, 4, 5, 6};

std::vector<float> data_of(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  std::vector<float> values((content.size() - kNpyHeaderBytes) / sizeof(float));
  std::memcpy(values.data(), content.data() + kNpyHeaderBytes, values.size() * sizeof(float));
  return values;
}

NpyHeader header_of(const std::filesystem::path& path) {
  const auto header = parse_npy_header(read_file(path), path.string());
  EXPECT_TRUE(header) << header.error().message;
  return header.value_or(NpyHeader{-1, -1});
}

TEST(Npy, HeaderIsWhatNumPyReads) {
  // The very bytes that numpy.save writes for this shape.
  const std::string header = npy_header(12, 384);
  ASSERT_EQ(header.size(), kNpyHeaderBytes);
  EXPECT_EQ(header.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(header.substr(6, 4), std::string("\x01\x00\x76\x00", 4));
  EXPECT_EQ(header.substr(10, 67),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 384), }     ");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(npy_header(INT64_MAX, INT64_MAX).size(), kNpyHeaderBytes);
}

TEST(Npy, WritesRowsCountedAtTheEnd) {
  TempDir dir;
  const auto path = dir / "out.npy";
  auto writer = NpyWriter::create(path, 2);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_EQ(header_of(path).num_rows, 0);
  ASSERT_TRUE(writer->append(std::span(kRows).first(2)));
  ASSERT_TRUE(writer->append(std::span(kRows).subspan(2)));
  ASSERT_TRUE(writer->append({}));
  EXPECT_EQ(writer->append(std::span(kRows).first(3)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer->num_rows(), 3);
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(header_of(path).num_rows, 3);
  EXPECT_EQ(header_of(path).num_columns, 2);
  EXPECT_EQ(data_of(path), std::vector<float>(kRows.begin(), kRows.end()));
}

TEST(Npy, WritesMoreThanItsBuffer) {
  TempDir dir;
  const std::vector<float> row(1000, 0.5f);
  auto writer = NpyWriter::create(dir / "out.npy", 1000);
  ASSERT_TRUE(writer);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer->append(row));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(header_of(dir / "out.npy").num_rows, 1000);
  EXPECT_EQ(data_of(dir / "out.npy"), std::vector<float>(1000 * 1000, 0.5f));
}

TEST(Npy, ResumeKeepsCompleteRowsOnly) {
  TempDir dir;
  const auto path = dir / "out.npy";
  std::string interrupted = npy_header(1, 2);
  interrupted.append(std::string(2 * 2 * sizeof(float), '\0'));  // the header counts only one
  interrupted += "abc";                                          // half a row
  dir.write("out.npy", interrupted);
  auto writer = NpyWriter::resume(path, 2);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_EQ(writer->num_rows(), 2);
  EXPECT_EQ(header_of(path).num_rows, 2);
  ASSERT_TRUE(writer->append(std::span(kRows).first(4)));
  EXPECT_EQ(writer->truncate(5).error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(writer->truncate(3));
  ASSERT_TRUE(writer->append(std::span(kRows).subspan(4)));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(header_of(path).num_rows, 4);
  EXPECT_EQ(data_of(path), (std::vector<float>{0, 0, 0, 0, 1, 2, 5, 6}));
}

TEST(Npy, ResumeStartsAnAbsentOrBarelyBegunFile) {
  TempDir dir;
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, kNpyHeaderBytes}) {
    dir.write("out.npy", npy_header(0, 2).substr(0, size));
    auto writer = NpyWriter::resume(dir / "out.npy", 2);
    ASSERT_TRUE(writer) << writer.error().message;
    EXPECT_EQ(writer->num_rows(), 0);
  }
  ASSERT_TRUE(NpyWriter::resume(dir / "new.npy", 2));
  EXPECT_EQ(read_file(dir / "new.npy"), npy_header(0, 2));
}

TEST(Npy, ResumeRefusesOtherFilesAndKeepsThem) {
  TempDir dir;
  std::string other = npy_header(1, 2);
  other.replace(other.find("<f4"), 3, "<f8");
  for (const std::string& content :
       {std::string("my notes"), std::string(200, 'x'), other + std::string(16, '\0')}) {
    const auto path = dir.write("out.npy", content);
    const auto writer = NpyWriter::resume(path, 2);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, ErrorCode::kMalformed);
    EXPECT_EQ(read_file(path), content);
  }
  dir.write("out.npy", npy_header(1, 3) + std::string(12, '\0'));
  const auto writer = NpyWriter::resume(dir / "out.npy", 2);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::kInvalidArgument);
}

TEST(Npy, ParseRefusesEveryChangedHeader) {
  const std::string valid = npy_header(7, 3);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    std::string changed = valid;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    const auto header = parse_npy_header(changed, "x.npy");
    EXPECT_FALSE(header) << i;
    EXPECT_FALSE(parse_npy_header(std::string_view(valid).substr(0, i), "x.npy"));
  }
  EXPECT_FALSE(parse_npy_header(npy_header(3, 0), "x.npy"));
}

}  // namespace
}  // namespace lattice
