// Accesses outside buffers and arrays, of undefined memory, through bad pointers; limits.

#include <gmock/gmock.h>

#include "unit/backends/metal/fault_test.h"

namespace lattice::metal {
namespace {

using ::testing::HasSubstr;

const std::vector<PlantedFault> kFaults = {
    {.name = "ReadOnePastTheEnd",
     .body = "out[tid] = x[tid * 2 + 2];",
     .reported = {"outside every buffer", "read at test.metal:5"}},
    {.name = "ReadFarPastTheEnd",
     .body = "out[tid] = x[tid + 100000];",
     .reported = {"outside every buffer", "read at test.metal:5"}},
    {.name = "ReadBeforeTheBeginning",
     .body = "out[tid] = x[int(tid) - 1];",
     .reported = {"outside every buffer", "thread 0 read at test.metal:5"}},
    {.name = "WriteOnePastTheEnd",
     .body = "out[tid * 2 + 2] = x[tid];",
     .reported = {"outside every buffer", "thread 127 write at test.metal:5"}},
    {.name = "VectorReadAcrossTheEnd",
     .body = "device const packed_float4* v = (device const packed_float4*)(x + 2);\n"
             "float4 a = float4(v[tid / 2]);\nout[tid] = a.x + a.y + a.z + a.w;",
     .reported = {"across the end", "read at test.metal:6"}},
    {.name = "WriteThroughACastToAReadOnlyBuffer",
     .body = "device float* writable = (device float*)x;\nwritable[tid] = 0.0f;",
     .reported = {"read-only", "of x with 1024 bytes", "write at test.metal:6"}},
    {.name = "ThreadgroupArrayTooSmall",
     .body = "threadgroup float scratch[3];\nthreadgroup float other[4];\n"
             "if (lane == 0) { scratch[sg] = x[tid]; other[sg] = 0.0f; }\nout[tid] = x[tid];",
     .reported = {"test.metal:7"}},
    {.name = "ThreadgroupArrayTooSmallBehindAPointer",
     .body = "threadgroup float scratch[3];\nthreadgroup float other[4];\n"
             "put(scratch, sg, x[tid], lane);\nput(other, sg, x[tid], lane);\nout[tid] = x[tid];",
     .reported = {"outside every buffer", "test.metal:1"},
     .helpers = "inline void put(threadgroup float* to, uint i, float v, uint lane) { "
                "if (lane == 0) to[i] = v; }"},
    {.name = "IndexThatJumpsOverTheNextArray",
     .body = "threadgroup float a[16];\nthreadgroup float b[16];\na[lane % 16 + 40 * (sg / 3)] = "
             "1.0f;\n"
             "b[tid % 16] = 0.0f;\nout[tid] = 0.0f;",
     .reported = {"test.metal:7"},
     .threads = {128}},
    {.name = "UninitialisedThreadgroupMemory",
     .body = "threadgroup float sums[8];\nif (lane == 0) sums[sg] = x[tid];\n"
             "threadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = sums[lane % 8];",
     .reported = {"nobody wrote", "sums", "test.metal:8"}},
    {.name = "ThreadgroupMemoryOfTheThreadgroupBefore",
     .body = "threadgroup float sums[4];\nif (group == 0 && lane == 0) sums[sg] = 1.0f;\n"
             "threadgroup_barrier(mem_flags::mem_threadgroup);\nout[group * 128 + tid] = sums[sg];",
     .reported = {"nobody wrote", "threadgroup (1, 0, 0)", "test.metal:8"},
     .threadgroups = {2}},
    {.name = "PrivateArrayOverrun",
     .body = "float own[4];\nfor (uint i = 0; i < 4; ++i) own[i] = x[tid + i];\n"
             "out[tid] = own[(tid % 7)];",
     .reported = {"outside the bounds of an array", "test.metal:7"}},
    {.name = "PrivateArrayOverrunByAWrite",
     .body = "float own[4];\nfor (uint i = 0; i <= 4; ++i) own[i] = x[tid + i];\n"
             "out[tid] = own[tid % 4];",
     .reported = {"outside the bounds of an array", "test.metal:6"}},
    {.name = "VectorReadFromAMisalignedPointer",
     .body = "device const float4* v = (device const float4*)(x + 1);\nout[tid] = v[tid / 4].y;",
     .reported = {"misaligned", "test.metal:6"}},
    {.name = "LoopBoundOffByOneAtHeadDim80",
     .body = "const uint kRow = 80;\nfor (uint c = lane; c <= kRow; c += 32) {\n"
             "  out[sg * 64 + c % 64 + (sg == 3 && c == kRow ? 64 : 0)] = x[c];\n}",
     .reported = {"test.metal:7"}},
    {.name = "MatrixStoreAcrossTheEnd",
     .body = "simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);\n"
             "simdgroup_store(a, out + sg * 64 + 1, 8);",
     .reported = {"outside every buffer", "write at test.metal:6"}},
};
LATTICE_PLANTED_FAULTS(SimtMemory, kFaults)

TEST(SimtLimits, ThreadgroupMemoryOver32KiB) {
  simt::SimtDevice device;
  const auto library = value_or_throw(device.compile(test_source(R"(
kernel void fits(device float* out [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[8192];
  tile[tid] = 0.0f;
  out[tid] = tile[tid];
}
kernel void too_large(device float* out [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[8192];
  threadgroup float one_more[1];
  tile[tid] = one_more[0] = 0.0f;
  out[tid] = tile[tid];
}
)")));
  const auto fits = device.make_pipeline(*library, "fits");
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ((*fits)->threadgroup_bytes(), 32768u);
  const auto too_large = device.make_pipeline(*library, "too_large");
  ASSERT_FALSE(too_large);
  EXPECT_THAT(too_large.error().message, HasSubstr("too_large: 32784 bytes of threadgroup memory"));
  const auto absent = device.make_pipeline(*library, "absent");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("no kernel absent"));
}

constexpr std::string_view kScale = R"(
struct Scale { float factor; uint count; };
kernel void scale(device float* x [[buffer(0)]], constant Scale& args [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < args.count) x[i] *= args.factor;
}
)";
struct Scale {
  float factor;
  std::uint32_t count;
};

TEST(SimtLimits, BindingsMustMatchTheSignature) {
  simt::SimtDevice device;
  std::vector<float> x(64, 1.0f);
  const auto source = test_source(kScale);
  const auto right = run_kernel(device, source, "scale", {x, Scale{2.0f, 64}}, {2}, {32});
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ(x, std::vector<float>(64, 2.0f));
  const auto missing = run_kernel(device, source, "scale", {x}, {2}, {32});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("nothing bound to args [[buffer(1)]]"));
  const auto wrong_size = run_kernel(device, source, "scale", {x, 2.0f}, {2}, {32});
  ASSERT_FALSE(wrong_size);
  EXPECT_THAT(wrong_size.error().message, HasSubstr("args is 8 bytes, got 4"));
  const auto constant = run_kernel(device, source, "scale", {1.0, Scale{2.0f, 2}}, {2}, {32});
  ASSERT_FALSE(constant);
  EXPECT_THAT(constant.error().message, HasSubstr("x may be written to"));
}

TEST(SimtLimits, ThreadsPerThreadgroup) {
  simt::SimtDevice device;
  std::vector<float> x(64, 1.0f);
  const auto done =
      run_kernel(device, test_source(kScale), "scale", {x, Scale{2.0f, 64}}, {1}, {1025});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("1025 threads in a threadgroup, 1 to 1024"));
}

TEST(SimtLimits, WhatDoesNotCompileIsAnErrorWithTheLine) {
  simt::SimtDevice device;
  std::vector<float> x(1);
  const auto done = run_kernel(
      device,
      test_source("kernel void k(device float* x [[buffer(0)]]) {\n  x[0] = max(1.0f, 2);\n}"), "k",
      {x}, {1}, {1});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("test.metal:2"));
}

}  // namespace
}  // namespace lattice::metal
