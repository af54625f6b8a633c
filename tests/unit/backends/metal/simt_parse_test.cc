#include <gmock/gmock.h>

#include "backends/metal/simt/signature.h"
#include "backends/metal/simt/source_text.h"
#include "backends/metal/simt/translate.h"
#include "unit/backends/metal/kernel_runner.h"

namespace lattice::metal::simt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SourceText, CommentsStringsAndDirectivesAreBlanked) {
  const std::string source = "#define A \\\n  kernel\na // kernel\nb /* kernel\n */ c \"kernel\" d";
  const std::string blanked = blank_comments(source);
  EXPECT_EQ(blanked.size(), source.size());
  EXPECT_EQ(find_word(blanked, "kernel"), std::string::npos);
  EXPECT_EQ(line_of(blanked, blanked.find('d')), 5);
  EXPECT_THAT(split_arguments("a, f(b, c) , d[1,2]"), ElementsAre("a", "f(b, c)", "d[1,2]"));
}

TEST(SourceText, PlacesFollowLineDirectives) {
  const std::string source = "a\n#line 1 \"one.metal\"\nb\n#line 7 \"two.metal\"\n\nc";
  EXPECT_EQ(place_of(source, 0), "line 1");
  EXPECT_EQ(place_of(source, source.find('b')), "one.metal:1");
  EXPECT_EQ(place_of(source, source.find('c')), "two.metal:8");
}

TEST(ParseKernels, ReadsNamesParametersAndLimits) {
  const auto kernels = value_or_throw(parse_kernels(R"(
struct Args { uint n; };
kernel void first(device const float* x [[buffer(0)]], constant Args& args [[buffer(3)]],
                  uint3 at [[thread_position_in_grid]]) { if (at.x < args.n) { } }
[[max_total_threads_per_threadgroup(32 * 2)]]
kernel void other() {}
kernel [[max_total_threads_per_threadgroup(256)]] void second(device half *out [[ buffer(1) ]]) {}
)"));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].line, 3);
  ASSERT_EQ(kernels[0].parameters.size(), 3u);
  EXPECT_EQ(kernels[0].parameters[0].type, "device const float*");
  EXPECT_TRUE(kernels[0].parameters[0].is_read_only());
  EXPECT_EQ(kernels[0].parameters[1].value_type(), "Args");
  EXPECT_EQ(kernels[0].parameters[1].index, 3u);
  EXPECT_EQ(kernels[0].parameters[2].attribute, "thread_position_in_grid");
  EXPECT_EQ(kernels[2].name, "second");
  EXPECT_EQ(kernels[0].max_threads, 1024u);
  EXPECT_EQ(kernels[1].max_threads, 64u);
  EXPECT_EQ(kernels[2].max_threads, 256u);
  EXPECT_FALSE(kernels[2].parameters[0].is_read_only());
}

TEST(ParseKernels, RefusesWhatMetalRefuses) {
  for (const auto& [source, part] : std::vector<std::pair<std::string, std::string>>{
           {"kernel void k(device float* x) {}", "one [[attribute]]"},
           {"kernel void k(device float* x [[buffer(0)]] [[buffer(1)]]) {}", "one [[attribute]]"},
           {"kernel void k(device float* x [[buffer]]) {}", "[[buffer(number)]]"},
           {"kernel void k(float x [[buffer(0)]]) {}", "pointer or reference"},
           {"kernel void k(constant uint& x [[thread_position_in_grid]]) {}",
            "pointer or reference"},
       }) {
    const auto kernels = parse_kernels("\n" + source);
    ASSERT_FALSE(kernels) << source;
    EXPECT_THAT(kernels.error().message, HasSubstr("line 2"));
    EXPECT_THAT(kernels.error().message, HasSubstr(part));
  }
}

TEST(Translate, OnlyThreadgroupMemoryBecomesStatic) {
  const auto unit = value_or_throw(translate(R"(
inline void fill(threadgroup float* to) { to[0] = 1.0f; }
kernel void k(device float* out [[buffer(0)]]) {
  threadgroup float tile[4][8];
  threadgroup float* row = tile[1];
  fill(row);
  out[0] = row[0];
}
)"));
  EXPECT_THAT(unit, HasSubstr("float tile[4][8]; static"));
  EXPECT_THAT(unit, HasSubstr("  threadgroup float* row = tile[1];"));
  EXPECT_THAT(unit, HasSubstr("inline void fill(threadgroup float* to)"));
}

TEST(KeepKernel, OtherBodiesAreEmptyAndLinesStay) {
  const std::string source =
      "kernel void a() {\n  f();\n}\ninline void g() { h(); }\nkernel void b() {\n  g();\n}\n";
  EXPECT_EQ(
      value_or_throw(keep_kernel(source, "b")),
      "kernel void a() {\n      \n}\ninline void g() { h(); }\nkernel void b() {\n  g();\n}\n");
  const auto absent = keep_kernel(source, "c");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("no kernel c"));
}

}  // namespace
}  // namespace lattice::metal::simt
