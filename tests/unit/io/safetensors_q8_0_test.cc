// Q8_0 tensors in safetensors files: declared in the metadata, checked against the header, written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/bytes.h"
#include "io/q8_0_metadata.h"
#include "io/safetensors.h"
#include "io/safetensors_writer.h"
#include "support/q8_tensors.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 40;

class SafetensorsQ8 : public ::testing::Test {
 protected:
  /// A file with the tensor "w", [3, 40], as its metadata and header say it.
  std::string file_bytes(std::string_view key, std::string_view value, std::string_view dtype,
                         const Shape& shape) const {
    return SafetensorsBuilder()
        .metadata(key, value)
        .add("w", dtype, shape, as_text(std::as_bytes(std::span(blocks_))))
        .bytes();
  }

  Result<SafetensorsFile> open(std::string_view bytes) const {
    return SafetensorsFile::open(dir_.write("model.safetensors", bytes));
  }

  void expect_refused(std::string_view bytes, const std::string& what) const {
    const auto file = open(bytes);
    ASSERT_FALSE(file) << "accepted; expected: " << what;
    EXPECT_EQ(file.error().code, ErrorCode::kMalformed);
    EXPECT_THAT(file.error().message, HasSubstr("model.safetensors: tensor \"w\""));
    EXPECT_THAT(file.error().message, HasSubstr(what));
  }

  const std::vector<Q8WeightBlock> blocks_ = random_q8_blocks(kRows, kColumns, 1);
  TempDir dir_;
};

TEST_F(SafetensorsQ8, DeclaredTensorsHaveTheirLogicalShape) {
  const auto file = open(file_bytes("lattice.q8_0.w", "[3, 40]", "U8", {3, 68}));
  ASSERT_TRUE(file) << file.error().message;
  const Tensor tensor = file->require("w").value();
  EXPECT_EQ(tensor.dtype(), DType::kQ8_0);
  EXPECT_EQ(tensor.shape(), (Shape{kRows, kColumns}));
  EXPECT_EQ(as_text(tensor.bytes()), as_text(std::as_bytes(std::span(blocks_))));
  EXPECT_EQ(file->data_bytes(), tensor.num_bytes());
}

TEST_F(SafetensorsQ8, WithoutADeclarationBytesAreBytes) {
  const auto file = open(file_bytes("format", "pt", "U8", {3, 68}));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->require("w")->dtype(), DType::kU8);
}

TEST_F(SafetensorsQ8, MetadataAndHeaderMustAgree) {
  const std::string key = "lattice.q8_0.w";
  for (const char* columns : {"33", "40", "64"}) {
    EXPECT_TRUE(open(file_bytes(key, fmt::format("[3,{}]", columns), "U8", {3, 68}))) << columns;
  }
  for (const char* shape : {"[3, 32]", "[3, 65]", "[2, 40]", "[4, 40]", "[40, 3]", "[1, 120]"}) {
    expect_refused(file_bytes(key, shape, "U8", {3, 68}), "got U8 [3, 68]");
  }
  expect_refused(file_bytes(key, "[3, 40]", "I8", {3, 68}), "got I8 [3, 68]");
  expect_refused(file_bytes(key, "[3, 40]", "F16", {3, 34}), "got F16 [3, 34]");
  expect_refused(file_bytes(key, "[3, 40]", "Q8_0", {3, 40}), "got Q8_0 [3, 40]");
  expect_refused(file_bytes(key, "[3, 40]", "U8", {204}), "got U8 [204]");
  expect_refused(file_bytes(key, "[3, 40]", "U8", {3, 2, 34}), "got U8 [3, 2, 34]");
  expect_refused(file_bytes(key, "[3, 40]", "U8", {6, 34}), "got U8 [6, 34]");
  expect_refused(file_bytes(key, "[3, 40]", "U8", {2, 102}), "got U8 [2, 102]");
}

TEST_F(SafetensorsQ8, ShapesMustBeTwoPositiveIntegers) {
  for (const char* shape :
       {"", "3, 40", "[3]", "[3, 40, 1]", "[3, 0]", "[0, 40]", "[-3, 40]", "[3.0, 40]", "[3, null]",
        "[3, 9223372036854775807]", "[3, 18446744073709551615]", "{}", "[3, 40]x", "[[3, 40]]"}) {
    expect_refused(file_bytes("lattice.q8_0.w", shape, "U8", {3, 68}), "__metadata__");
  }
}

TEST_F(SafetensorsQ8, ADeclarationNeedsItsTensor) {
  const auto file = open(file_bytes("lattice.q8_0.v", "[3, 40]", "U8", {3, 68}));
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("tensor \"v\""));
  EXPECT_THAT(file.error().message, HasSubstr("no such tensor"));
}

TEST_F(SafetensorsQ8, TruncatedBlocksAreRefusedBeforeAnyIsRead) {
  const std::string bytes = file_bytes("lattice.q8_0.w", "[3, 40]", "U8", {3, 68});
  for (std::size_t cut = 1; cut <= 204; ++cut) {
    expect_refused(std::string_view(bytes).substr(0, bytes.size() - cut), "truncated");
  }
}

TEST_F(SafetensorsQ8, WhatIsWrittenIsReadBack) {
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  const SafetensorsItem items[] = {{"norm \"a\"", DType::kF32, {6}},
                                   {"w", DType::kQ8_0, {kRows, kColumns}},
                                   {"empty", DType::kI64, {0, 4}}};
  const auto path = dir_ / "out.safetensors";
  auto writer = SafetensorsWriter::create(path, items, {{"format", "pt"}});
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(floats))));
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(blocks_)).first(50)));
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(blocks_)).subspan(50)));
  ASSERT_TRUE(writer->finish());

  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_TRUE(file->require("norm \"a\"")->is_aligned_f32());
  EXPECT_EQ(file->require("norm \"a\"")->f32()[5], 6.0f);
  EXPECT_EQ(file->require("w")->shape(), (Shape{kRows, kColumns}));
  EXPECT_EQ(as_text(file->require("w")->bytes()), as_text(std::as_bytes(std::span(blocks_))));
  EXPECT_EQ(file->require("empty")->shape(), (Shape{0, 4}));
  EXPECT_EQ(file->data_bytes(), 24u + 204u);
}

TEST_F(SafetensorsQ8, AWriterKnowsWhatIsMissing) {
  const SafetensorsItem items[] = {{"w", DType::kQ8_0, {kRows, kColumns}}};
  const auto bytes = std::as_bytes(std::span(blocks_));
  auto writer = SafetensorsWriter::create(dir_ / "a.safetensors", items, {});
  ASSERT_TRUE(writer->write(bytes.first(203)));
  EXPECT_FALSE(writer->write(bytes.first(2)));
  EXPECT_EQ(writer->finish().error().code, ErrorCode::kInternal);
  EXPECT_EQ(SafetensorsWriter::create(dir_ / "a.safetensors", items, {}).error().code,
            ErrorCode::kIo);
  EXPECT_EQ(SafetensorsWriter::create(dir_ / "none/a.safetensors", items, {}).error().code,
            ErrorCode::kIo);
}

}  // namespace
}  // namespace lattice
