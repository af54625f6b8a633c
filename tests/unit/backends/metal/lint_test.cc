#include "backends/metal/simt/lint.h"

#include <gmock/gmock.h>

#include "backends/metal/msl_source.h"
#include "backends/metal/simt/text_rules.h"
#include "unit/backends/metal/kernel_runner.h"
#include "unit/backends/metal/must_shapes.h"

namespace lattice::metal {
namespace {

using ::testing::HasSubstr;

// A violation, and what the message must say.
struct Violation {
  std::string name;
  std::string body;  ///< of a kernel with x, out (device) and tid
  std::string says;
  std::string before = {};  ///< at program scope
};

std::string source_of(const Violation& violation) {
  return test_source(violation.before + R"(
kernel void k(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
              constant uint& count [[buffer(2)]], uint tid [[thread_index_in_threadgroup]]) {
)" + violation.body + "\n}\n");
}

void PrintTo(const Violation& violation, std::ostream* out) { *out << violation.name; }

// What MSL's compiler refuses and clang's C++ mostly accepts.
const std::vector<Violation> kViolations = {
    {.name = "PointerWithoutAddressSpaceToDevice",
     .body = "float* p = out; p[0] = 1.0f;",
     .says = "float"},
    {.name = "ThreadgroupPointerFromDevice",
     .body = "threadgroup float* p = out; p[0] = 1.0f;",
     .says = "__local float"},
    {.name = "CastBetweenAddressSpaces",
     .body = "threadgroup float* p = (threadgroup float*)out; p[0] = 1.0f;",
     .says = "address space"},
    {.name = "DevicePointerFromThreadgroup",
     .body = "threadgroup float t[4]; device float* p = t; p[0] = 1.0f;",
     .says = "__global float"},
    {.name = "HelperWithThreadPointerGivenDevice",
     .body = "put(out);",
     .says = "put",
     .before = "inline void put(thread float* p) { p[0] = 1.0f; }"},
    {.name = "HelperWithUnqualifiedPointer",
     .body = "put(out);",
     .says = "put",
     .before = "inline void put(float* p) { p[0] = 1.0f; }"},
    {.name = "WriteToConstBuffer", .body = "x[0] = 1.0f;", .says = "read-only"},
    {.name = "WriteToConstant", .body = "count = 3;", .says = "read-only"},
    {.name = "Double", .body = "double d = 1.0f; out[0] = float(d);", .says = "double"},
    {.name = "DoubleLiteral", .body = "out[0] = x[0] * 1.5;", .says = "double"},
    {.name = "ProgramScopeVariable",
     .body = "out[0] = scale;",
     .says = "scale",
     .before = "float scale = 1.0f;"},
    {.name = "StaticLocal",
     .body = "static int calls = 0; out[0] = float(++calls);",
     .says = "static"},
    {.name = "ThreadgroupVariableInAHelper",
     .body = "out[0] = f();",
     .says = "local",
     .before = "inline float f() { threadgroup float t[4]; t[0] = 1.0f; return t[0]; }"},
    {.name = "ThreadgroupInitialiser",
     .body = "threadgroup float t[2] = {1.0f, 2.0f}; out[0] = t[0];",
     .says = "initializ"},
    {.name = "MaxOfMixedTypes", .body = "out[0] = max(x[0], tid);", .says = "max"},
    {.name = "HalfVectorAsFloatVector",
     .body = "half4 h = half4(1.0h); float4 f = h; out[0] = f.x;",
     .says = "half4"},
    {.name = "UnsignedVectorAsFloatVector",
     .body = "uint4 u = uint4(1u); float4 f = u; out[0] = f.x;",
     .says = "uint4"},
    {.name = "FunctionPointer",
     .body = "float (*g)(float) = f; out[0] = g(1.0f);",
     .says = "pointer",
     .before = "inline float f(float a) { return a; }"},
    {.name = "New", .body = "thread float* p = new float[4]; out[0] = p[0];", .says = "new"},
    {.name = "SumOfBool", .body = "out[0] = float(simd_sum(x[0] > 0.0f));", .says = "simd_sum"},
    {.name = "StandardHeader",
     .body = "out[0] = 1.0f;",
     .says = "cmath",
     .before = "#include <cmath>"},
    {.name = "AddressOfAVectorElement",
     .body = "float4 v = float4(1.0f); thread float* p = &v.y; out[0] = *p;",
     .says = "vector element"},
    {.name = "RunTimeArray",
     .body = "float a[count]; a[0] = 1.0f; out[0] = a[0];",
     .says = "array"},
    {.name = "Throw", .body = "if (tid > 5) throw 1;", .says = "exception"},
    {.name = "Virtual",
     .body = "S s; out[0] = s.f();",
     .says = "virtual",
     .before = "struct S { virtual float f() { return 1.0f; } };"},
    {.name = "UninitialisedLocal",
     .body = "float v; if (tid > 3) v = 1.0f; out[0] = v;",
     .says = "uninitialized"},
};

class LintViolation : public ::testing::TestWithParam<Violation> {};
INSTANTIATE_TEST_SUITE_P(Planted, LintViolation, ::testing::ValuesIn(kViolations),
                         [](const auto& planted) { return planted.param.name; });

TEST_P(LintViolation, IsRefused) {
  const auto done = simt::lint(source_of(GetParam()));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kMalformed);
  EXPECT_THAT(done.error().message, HasSubstr("test.metal:"));
  EXPECT_THAT(done.error().message, HasSubstr(GetParam().says));
}

// What only the text shows.
const std::vector<Violation> kTextViolations = {
    {.name = "Goto",
     .body = "again: out[0] += 1.0f; if (out[0] < 3.0f) goto again;",
     .says = "test.metal:4: \"goto\""},
    {.name = "Recursion",
     .body = "out[0] = f(3u);",
     .says = "f calls itself",
     .before = "inline float g(uint n); inline float f(uint n) { return n > 0 ? g(n - 1) : 0.0f; } "
               "inline float g(uint n) { return f(n); }"},
    {.name = "Lambda",
     .body = "auto f = [&](uint i) { return x[i]; }; out[0] = f(1);",
     .says = "lambdas"},
    {.name = "UnqualifiedThreadPointer",
     .body = "float a[2]; float* p = a; out[0] = p[0];",
     .says = "test.metal:4: a pointer or reference to float without an address space"},
    {.name = "UnqualifiedReferenceParameter",
     .body = "out[0] = 0.0f;",
     .says = "without an address space",
     .before = "struct S { uint n; }; inline uint f(const S& s) { return s.n; }"},
    {.name = "ThreadgroupArrayAfterAStatement",
     .body = "out[tid] = 0.0f;\nthreadgroup float t[4];",
     .says = "test.metal:5: threadgroup memory is declared first"},
    {.name = "ThreadgroupArrayInAHelper",
     .body = "",
     .says = "outside a kernel",
     .before = "inline void f() { threadgroup float t[4]; }"},
    {.name = "ThreadgroupScalar", .body = "threadgroup float t;", .says = "is an array"},
    {.name = "TwoThreadgroupArraysInAStatement",
     .body = "threadgroup float t[4], u[4];",
     .says = "one array per statement"},
    {.name = "LiteralWithoutSuffix",
     .body = "out[0] = 1.5;",
     .says = "test.metal:4: expected 1.5f"},
    {.name = "ExponentWithoutSuffix", .body = "out[0] = 1e-5;", .says = "expected 1e-5f"},
    {.name = "Infinity", .body = "out[0] = -INFINITY;", .says = "INFINITY"},
    {.name = "NanTest", .body = "out[0] = isnan(x[0]) ? 0.0f : 1.0f;", .says = "isnan"},
};

class TextViolation : public ::testing::TestWithParam<Violation> {};
INSTANTIATE_TEST_SUITE_P(Planted, TextViolation, ::testing::ValuesIn(kTextViolations),
                         [](const auto& planted) { return planted.param.name; });

TEST_P(TextViolation, IsRefused) {
  const auto done = simt::check_text_rules(source_of(GetParam()));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr(GetParam().says));
}

class LintedShape : public ::testing::TestWithParam<HeadShape> {};
INSTANTIATE_TEST_SUITE_P(Must, LintedShape, ::testing::ValuesIn(kMustShapes),
                         [](const auto& shape) {
                           return "head_dim_" + std::to_string(shape.param.head_dim) + "_groups_" +
                                  std::to_string(shape.param.groups);
                         });

void expect_rules_kept(const std::string& source) {
  const auto compiled = simt::lint(source);
  EXPECT_TRUE(compiled) << compiled.error().message;
  const auto text = simt::check_text_rules(source);
  EXPECT_TRUE(text) << text.error().message;
}

TEST_P(LintedShape, TheKernelsKeepTheRulesOfMsl) {
  expect_rules_kept(value_or_throw(msl_source_for(GetParam().head_dim, GetParam().groups)));
}

TEST(LintedKernels, TheKernelsForAnyHeadsKeepTheRulesOfMsl) {
  expect_rules_kept(value_or_throw(msl_source_for_any_heads()));
}

}  // namespace
}  // namespace lattice::metal
