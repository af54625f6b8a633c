#include "backends/metal/msl_source.h"

#include <gmock/gmock.h>

#include <array>

#include "backends/metal/device.h"
#include "backends/metal/msl_parts.h"
#include "unit/backends/metal/must_shapes.h"

namespace lattice::metal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FusedKernelShape, EveryConfigurationOfTheDesignIsValid) {
  for (const HeadShape& shape : kMustShapes) {
    const auto valid = validate_fused_kernel_shape(shape.head_dim, 8 * shape.groups, 8);
    EXPECT_TRUE(valid) << valid.error().message;
  }
}

TEST(FusedKernelShape, ErrorsSayWhatIsWrong) {
  for (const std::int64_t head_dim : {0, -4, 2, 66, 127}) {
    const auto valid = validate_fused_kernel_shape(head_dim, 8, 8);
    ASSERT_FALSE(valid) << head_dim;
    EXPECT_EQ(valid.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(valid.error().message, HasSubstr("head_dim: expected a positive multiple of 4"));
  }
  for (const auto& [heads, kv_heads] : {std::pair{7, 2}, {8, 0}, {0, 1}, {4, 8}}) {
    const auto valid = validate_fused_kernel_shape(64, heads, kv_heads);
    ASSERT_FALSE(valid) << heads << "/" << kv_heads;
    EXPECT_EQ(valid.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(valid.error().message,
                HasSubstr("num_attention_heads: expected a multiple of num_key_value_heads"));
  }
  EXPECT_FALSE(validate_fused_kernel_shape(64, 33, 1));   // threads
  EXPECT_FALSE(validate_fused_kernel_shape(512, 16, 1));  // threadgroup memory
}

TEST(MslSource, IsSpecialisedAndHasNoPlaceholderLeft) {
  for (const HeadShape& shape : kMustShapes) {
    const std::string source = value_or_throw(msl_source_for(shape.head_dim, shape.groups));
    EXPECT_THAT(source, HasSubstr("kFaHeadDim = " + std::to_string(shape.head_dim) + ";"));
    EXPECT_THAT(source, HasSubstr("kFaGroups = " + std::to_string(shape.groups) + ";"));
    EXPECT_THAT(source, HasSubstr("kFusedHalfDim = " + std::to_string(shape.head_dim / 2) + ";"));
    for (const char* name : {"__FA_", "__FUSED_C_"}) EXPECT_THAT(source, Not(HasSubstr(name)));
  }
  EXPECT_FALSE(msl_source_for(66, 1));
  EXPECT_FALSE(msl_source_for(64, 0));
}

TEST(MslSource, EachFileIsInOneOfTheSources) {
  const std::string any = value_or_throw(msl_source_for_any_heads());
  const std::string specialised = value_or_throw(msl_source_for(64, 2));
  for (const MslPart& part : msl_parts()) {
    const std::string line = "#line 1 \"" + std::string(part.name) + "\"";
    const bool is_in_both = part.name == "kernel_params.h" || part.name == "common.metal";
    const bool is_for_heads = part.name == "attention.metal" || part.name == "qk_norm_rope.metal";
    EXPECT_EQ(any.find(line) != std::string::npos, is_in_both || !is_for_heads) << part.name;
    EXPECT_EQ(specialised.find(line) != std::string::npos, is_in_both || is_for_heads) << part.name;
  }
}

TEST(MslSource, PlaceholdersAreWholeWordsThatMustMatch) {
  const std::array<Placeholder, 2> values = {{{"__A__", 7}, {"__B__", 8}}};
  EXPECT_EQ(value_or_throw(substitute_placeholders("x__A__ __A__*__B__;", values)), "x__A__ 7*8;");
  const auto left_over = substitute_placeholders("__A__ __B__ __FUSED_D__", values);
  ASSERT_FALSE(left_over);
  EXPECT_THAT(left_over.error().message, HasSubstr("__FUSED_D__ has no value"));
  const auto unused = substitute_placeholders("__A__", values);
  ASSERT_FALSE(unused);
  EXPECT_THAT(unused.error().message, HasSubstr("__B__ does not occur"));
}

TEST(MslSource, ThreadsAreWholeSimdGroups) {
  for (const HeadShape& shape : kMustShapes) {
    EXPECT_EQ(fused_threads(shape.head_dim) % kSimdWidth, 0);
    EXPECT_GE(fused_threads(shape.head_dim), shape.head_dim / 2);
  }
}

}  // namespace
}  // namespace lattice::metal
