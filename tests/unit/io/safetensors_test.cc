#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

constexpr std::array<float, 6> kValues = {1.0f, -2.0f, 0.5f, 3.25f, 0.0f, 1e30f};

class Safetensors : public ::testing::Test {
 protected:
  Result<SafetensorsFile> open(std::string_view bytes) {
    return SafetensorsFile::open(dir_.write("model.safetensors", bytes));
  }

  /// The message for a file that must be refused, without the path.
  std::string refusal(std::string_view bytes) {
    const auto file = open(bytes);
    if (file) return "accepted";
    EXPECT_EQ(file.error().code, ErrorCode::kMalformed);
    const std::string prefix =
        fmt::format("[safetensors] {}: ", (dir_ / "model.safetensors").string());
    EXPECT_TRUE(file.error().message.starts_with(prefix)) << file.error().message;
    return file.error().message.substr(prefix.size());
  }

  std::string refusal(std::string_view header, std::string_view data) {
    return refusal(safetensors_bytes(header, data));
  }

  TempDir dir_;
};

TEST_F(Safetensors, ReadsEveryDType) {
  const std::string data(64, '\1');
  SafetensorsBuilder builder;
  const std::array<std::pair<DType, std::string_view>, 10> dtypes = {{{DType::kF64, "F64"},
                                                                      {DType::kF32, "F32"},
                                                                      {DType::kF16, "F16"},
                                                                      {DType::kBF16, "BF16"},
                                                                      {DType::kI64, "I64"},
                                                                      {DType::kI32, "I32"},
                                                                      {DType::kI16, "I16"},
                                                                      {DType::kI8, "I8"},
                                                                      {DType::kU8, "U8"},
                                                                      {DType::kBool, "BOOL"}}};
  for (const auto& [dtype, name] : dtypes) {
    builder.add(name, name, {2, 3}, std::string_view(data).substr(0, 6 * dtype_size(dtype)));
  }
  const auto file = open(builder.metadata("format", "pt").bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->names().size(), dtypes.size());
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->data_bytes(), 6u * (8 + 4 + 2 + 2 + 8 + 4 + 2 + 1 + 1 + 1));
  for (const auto& [dtype, name] : dtypes) {
    const auto tensor = file->require(name);
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(tensor->dtype(), dtype);
    EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
    EXPECT_EQ(tensor->num_bytes(), 6 * dtype_size(dtype));
    EXPECT_EQ(tensor->bytes().back(), std::byte{1});
  }
}

TEST_F(Safetensors, TensorsOutliveTheFileAndAreNotCopies) {
  std::optional<Tensor> first;
  {
    const auto file = open(SafetensorsBuilder().add_f32("w", {2, 3}, kValues).bytes());
    ASSERT_TRUE(file) << file.error().message;
    first = *file->require("w");
    EXPECT_EQ(first->bytes().data(), file->require("w")->bytes().data());
  }
  std::array<float, 6> out = {};
  first->copy_to_f32(0, out);
  EXPECT_EQ(out, kValues);
  first->discard();
  first->copy_to_f32(0, out);
  EXPECT_EQ(out, kValues);
}

TEST_F(Safetensors, ReadsUnalignedData) {
  for (std::size_t padding = 0; padding < 4; ++padding) {
    const auto file = open(SafetensorsBuilder().add_f32("w", {6}, kValues).bytes(padding));
    ASSERT_TRUE(file) << file.error().message;
    std::array<float, 6> out = {};
    file->require("w")->copy_to_f32(0, out);
    EXPECT_EQ(out, kValues);
  }
}

TEST_F(Safetensors, ReadsScalarsZeroSizedTensorsAndAnEmptyFile) {
  const auto file = open(SafetensorsBuilder()
                             .add("zero", "F32", {0, 4}, "")
                             .add_f32("scalar", {}, std::span(kValues).first(1))
                             .add("end", "F32", {3, 0}, "")
                             .bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->require("scalar")->num_elements(), 1);
  EXPECT_EQ(file->require("zero")->num_elements(), 0);
  EXPECT_EQ(file->require("end")->bytes().size(), 0u);
  const auto empty = open(safetensors_bytes("{}", ""));
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_TRUE(empty->names().empty());
  EXPECT_EQ(empty->data_bytes(), 0u);
}

TEST_F(Safetensors, MissingTensorIsNothingOrAnErrorThatNamesIt) {
  const auto file = open(SafetensorsBuilder().add_f32("w", {6}, kValues).bytes());
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->find("v").value().has_value());
  const auto missing = file->require("v");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(missing.error().message.ends_with("tensor \"v\" is missing"));
}

TEST_F(Safetensors, UnknownDTypeIsRefusedByNameOnlyWhenUsed) {
  for (const char* dtype : {"F8_E4M3", "F8_E5M2", "F4", "U16", "C64", "float32"}) {
    const auto file =
        open(SafetensorsBuilder().add("q", dtype, {4}, "abcd").add_f32("w", {6}, kValues).bytes());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->require("w"));
    const auto refused = file->find("q");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(refused.error().message.find(fmt::format("dtype {} is not supported", dtype)),
              std::string::npos);
  }
}

// safetensors/safetensors#401, QuintinShaw/openasr PR#73
TEST_F(Safetensors, FieldBug58DuplicateNameIsRefusedByName) {
  const std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  EXPECT_EQ(refusal(header, "ab"),
            "tensor \"w\": expected one entry, got a duplicate of this name (byte 61)");
}

// ml-explore/mlx#3363
TEST_F(Safetensors, FieldBug60ShapeLargerThanOffsetsIsRefused) {
  EXPECT_EQ(refusal(R"({"w":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]}})", "abcd"),
            "tensor \"w\": expected F32 [1000, 1000] to take 4000000 bytes, got 4 in data_offsets "
            "(byte 9)");
}

// ztxz16/fastllm PR#713
TEST_F(Safetensors, FieldBug61HugeHeaderLengthIsRefusedBeforeAllocating) {
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            "expected a header of at most 100000000 bytes, got 18446744073709551615 (byte 0)");
  EXPECT_EQ(refusal("abcd"), "expected at least 8 bytes, got 4: the file is truncated");
  EXPECT_EQ(refusal(""), "expected at least 8 bytes, got 0: the file is truncated");
}

// safetensors/safetensors#668
TEST_F(Safetensors, FieldBug62aHeaderCapIsTheReferenceCap) {
  std::string large = safetensors_bytes("{}", "");
  const std::uint64_t length = 100'000'001;
  for (std::size_t i = 0; i < 8; ++i) large[i] = static_cast<char>((length >> (8 * i)) & 0xff);
  const auto path = dir_.write("model.safetensors", large);
  std::filesystem::resize_file(path, 8 + length);
  const auto refused = SafetensorsFile::open(path);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with(
      "expected a header of at most 100000000 bytes, got 100000001 (byte 0)"))
      << refused.error().message;
}

// Comfy-Org/ComfyUI#15602, paiml/aprender#275
TEST_F(Safetensors, FieldBug65TrailingBytesAndTruncationAreRefused) {
  const std::string valid = SafetensorsBuilder().add_f32("w", {6}, kValues).bytes();
  EXPECT_EQ(refusal(valid + "x"), fmt::format("expected a file of {} bytes, got {}: 1 bytes follow "
                                              "the last tensor (byte {})",
                                              valid.size(), valid.size() + 1, valid.size()));
  EXPECT_EQ(refusal(std::string_view(valid).substr(0, valid.size() - 12)),
            "tensor \"w\": data_offsets: expected begin <= end <= 12 bytes of data, got [0, 24]: "
            "the file is truncated or corrupt (byte 9)");
  for (std::size_t size = 0; size < valid.size(); ++size) {
    EXPECT_NE(refusal(std::string_view(valid).substr(0, size)), "accepted") << size;
  }
}

TEST_F(Safetensors, RefusesGapsAndOverlaps) {
  EXPECT_EQ(refusal(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "ab"),
            "tensor \"w\": expected data at offset 0, got 1: a gap (byte 62)");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                    "abc"),
            "tensor \"b\": expected data at offset 2, got 1: tensors overlap (byte 114)");
}

TEST_F(Safetensors, RefusesArithmeticThatOverflows) {
  const auto entry = [](std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"w":{{"dtype":"F32","shape":{},"data_offsets":{}}}}})", shape, offsets);
  };
  EXPECT_EQ(refusal(entry("[4294967296,4294967296]", "[0,0]"), ""),
            "tensor \"w\": shape: the number of elements overflows 63 bits (byte 9)");
  EXPECT_EQ(refusal(entry("[9223372036854775807]", "[0,0]"), ""),
            "tensor \"w\": expected F32 [9223372036854775807] to take more than 2^64 bytes, got 0 "
            "in data_offsets (byte 9)");
  EXPECT_EQ(refusal(entry("[18446744073709551615]", "[0,0]"), ""),
            "tensor \"w\": shape: expected non-negative 63-bit integers (byte 9)");
  EXPECT_EQ(refusal(entry("[1]", "[18446744073709551612,18446744073709551615]"), ""),
            "tensor \"w\": data_offsets: expected two non-negative 64-bit integers (byte 9)");
  EXPECT_EQ(refusal(entry("[1]", "[4,0]"), "abcd"),
            "tensor \"w\": data_offsets: expected begin <= end <= 4 bytes of data, got [4, 0]: the "
            "file is truncated or corrupt (byte 9)");
  EXPECT_EQ(refusal(entry("[36893488147419103232]", "[0,0]"), ""),
            "tensor \"w\": shape: expected non-negative 63-bit integers (byte 9)");
  EXPECT_EQ(refusal(entry("[1]", "[0,36893488147419103232]"), ""),
            "tensor \"w\": data_offsets: expected two non-negative 64-bit integers (byte 9)");
}

TEST_F(Safetensors, RefusesWrongTypes) {
  const std::array<std::string_view, 15> headers = {
      R"({"w":3})",
      R"({"w":{"shape":[1],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":[1]}})",
      R"({"w":{"dtype":5,"shape":[1],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0]}})",
      R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})",
      R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})",
      R"({"w":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"scale":2}})",
      R"({"__metadata__":{"a":1}})",
  };
  for (const std::string_view header : headers)
    EXPECT_NE(refusal(header, "a"), "accepted") << header;
}

TEST_F(Safetensors, RefusesAHeaderThatIsNotAnObject) {
  EXPECT_EQ(refusal("[]", ""), "expected a JSON object that starts with '{' (byte 8)");
  EXPECT_EQ(refusal(" {}", ""), "expected a JSON object that starts with '{' (byte 8)");
  EXPECT_EQ(refusal("", ""), "expected a JSON object that starts with '{' (byte 8)");
  EXPECT_TRUE(refusal("{}{}", "").starts_with("header at byte 8: invalid JSON: "));
}

TEST_F(Safetensors, NamesAGitLfsPointer) {
  const std::string message = refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  EXPECT_TRUE(message.starts_with("this is a Git LFS pointer")) << message;
}

TEST_F(Safetensors, MissingFileIsNotFound) {
  const auto file = SafetensorsFile::open(dir_ / "none.safetensors");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace lattice
