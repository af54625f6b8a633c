// Barriers and SIMD operations that not all threads reach, or not alike.

#include "unit/backends/metal/fault_test.h"

namespace lattice::metal {
namespace {

const std::vector<PlantedFault> kFaults = {
    {.name = "BarrierInABranchOfSomeSimdGroups",
     .body = "if (sg < 2) threadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = x[tid];",
     .reported = {"divergent barrier", "threadgroup_barrier at test.metal:5"}},
    {.name = "BarrierAtTwoPlaces",
     .body = "if (sg < 2) threadgroup_barrier(mem_flags::mem_threadgroup);\n"
             "else threadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = x[tid];",
     .reported = {"divergent barrier", "test.metal:5", "test.metal:6"}},
    {.name = "ReturnBeforeABarrier",
     .body = "if (tid > 99) return;\nthreadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = "
             "1.0f;",
     .reported = {"divergent barrier", "return", "test.metal:6"}},
    {.name = "BarrierInALoopOfUnequalLength",
     .body = "for (uint i = 0; i <= sg; ++i) {\n"
             "  threadgroup_barrier(mem_flags::mem_threadgroup);\n}\nout[tid] = 1.0f;",
     .reported = {"divergent barrier", "test.metal:6"}},
    {.name = "SumInABranchOfSomeLanes",
     .body = "float v = x[tid];\nif (lane < 16) v = simd_sum(v);\nout[tid] = v;",
     .reported = {"divergent collective", "simd_sum at test.metal:6"}},
    {.name = "SumAtTwoPlacesOfOneLine",
     .body =
         "float v = x[tid];\nif (lane < 16) v = simd_sum(v); else v = simd_sum(v);\nout[tid] = v;",
     .reported = {"divergent collective", "simd_sum at test.metal:6:20", "test.metal:6:"}},
    {.name = "SumInALoopWithATripCountPerLane",
     .body = "float v = x[tid];\nfor (uint i = 0; i < lane; ++i) v += simd_max(v);\nout[tid] = v;",
     .reported = {"divergent collective", "simd_max at test.metal:6"}},
    {.name = "DifferentOperationsInTwoBranches",
     .body = "float v = x[tid];\nif (lane % 2 == 0) {\n  v = simd_sum(v);\n} else {\n"
             "  v = simd_max(v);\n}\nout[tid] = v;",
     .reported = {"divergent collective", "simd_sum at test.metal:7", "simd_max at test.metal:9"}},
    {.name = "SumAgainstBarrier",
     .body = "float v = x[tid];\nif (lane < 8) v = simd_sum(v);\n"
             "threadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = v;",
     .reported = {"divergent", "simd_sum at test.metal:6", "threadgroup_barrier at test.metal:7"}},
    {.name = "ShuffleFromALaneThatDoesNotExist",
     .body = "out[tid] = simd_shuffle(x[tid], ushort(lane + 8));",
     .reported = {"lane that does not exist", "simd_shuffle at test.metal:5"}},
    {.name = "ShuffleInAPartialSimdGroup",
     .body = "out[tid] = simd_shuffle_xor(x[tid], 16);",
     .reported = {"lane that does not exist", "test.metal:5"},
     .threads = {48}},
    {.name = "DistanceThatDiffersBetweenLanes",
     .body = "out[tid] = simd_shuffle_down(x[tid], ushort(1 + lane / 16));",
     .reported = {"lanes disagree", "simd_shuffle_down at test.metal:5"}},
    {.name = "BroadcastFromTwoLanes",
     .body = "out[tid] = simd_broadcast(x[tid], ushort(lane / 20));",
     .reported = {"lanes disagree", "simd_broadcast at test.metal:5"}},
    {.name = "MatrixLoadFromAPointerPerLane",
     .body = "simdgroup_float8x8 a;\nsimdgroup_load(a, x + lane, 8);\n"
             "simdgroup_store(a, out + sg * 64, 8);",
     .reported = {"lanes disagree", "simdgroup_load at test.metal:6"}},
    {.name = "MatrixInAPartialSimdGroup",
     .body = "simdgroup_float8x8 a;\nsimdgroup_load(a, x, 8);\nsimdgroup_store(a, out, 8);",
     .reported = {"fewer than 32", "test.metal:6"},
     .threads = {16}},
};
LATTICE_PLANTED_FAULTS(SimtDivergence, kFaults)

TEST(SimtCollectives, UniformBranchesAreFine) {
  expect_clean({.name = "",
                .body = "float v = x[tid];\nif (sg == 1) v = simd_sum(v);\nif (group == 0) {\n"
                        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n}\nout[tid] = v;",
                .reported = {}});
}

TEST(SimtCollectives, AWholeSimdGroupMayReturnBeforeSumsOfTheOthers) {
  expect_clean(
      {.name = "", .body = "if (sg > 1) return;\nout[tid] = simd_sum(x[tid]);", .reported = {}});
}

TEST(SimtCollectives, EveryOperationGivesWhatMetalDefines) {
  simt::SimtDevice device;
  std::vector<float> x(32), out(32 * 10);
  for (std::size_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  const auto done = run_kernel(device, test_source(R"(
kernel void k(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]]) {
  float v = x[lane];
  out[0 * 32 + lane] = simd_sum(v);
  out[1 * 32 + lane] = simd_max(v);
  out[2 * 32 + lane] = simd_min(v);
  out[3 * 32 + lane] = simd_prefix_exclusive_sum(v);
  out[4 * 32 + lane] = simd_prefix_inclusive_sum(v);
  out[5 * 32 + lane] = simd_shuffle(v, ushort(31 - lane));
  out[6 * 32 + lane] = simd_shuffle_up(v, 2);
  out[7 * 32 + lane] = simd_shuffle_down(v, 2);
  out[8 * 32 + lane] = simd_broadcast(v, 7);
  out[9 * 32 + lane] = simd_any(lane == 3) && !simd_all(lane == 3) ? simd_shuffle_xor(v, 1) : -1.0f;
}
)"),
                               "k", {x, out}, {1}, {32});
  ASSERT_TRUE(done) << done.error().message;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto lane = static_cast<float>(i);
    const std::vector<float> expected = {496.0f,
                                         31.0f,
                                         0.0f,
                                         lane * (lane - 1.0f) / 2.0f,
                                         lane * (lane + 1.0f) / 2.0f,
                                         31.0f - lane,
                                         i < 2 ? lane : lane - 2.0f,
                                         i > 29 ? lane : lane + 2.0f,
                                         7.0f,
                                         static_cast<float>(i ^ 1)};
    for (std::size_t op = 0; op < 10; ++op)
      EXPECT_EQ(out[op * 32 + i], expected[op]) << op << " lane " << i;
  }
}

TEST(SimtCollectives, MatricesMultiply) {
  simt::SimtDevice device;
  std::vector<float> a(64), b(64), out(64);
  for (std::size_t i = 0; i < 64; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5) - 2.0f;
  }
  const auto done = run_kernel(device, test_source(R"(
kernel void k(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
              device float* out [[buffer(2)]], uint tid [[thread_index_in_threadgroup]]) {
  simdgroup_float8x8 x, y;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_load(x, a, 8);
  simdgroup_load(y, b, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(sum, x, y, sum);
  simdgroup_store(sum, out, 8);
}
)"),
                               "k", {a, b, out}, {1}, {32});
  ASSERT_TRUE(done) << done.error().message;
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t c = 0; c < 8; ++c) {
      float expected = 1.0f;
      for (std::size_t k = 0; k < 8; ++k) expected += a[r * 8 + k] * b[c * 8 + k];
      EXPECT_EQ(out[r * 8 + c], expected) << r << ", " << c;
    }
  }
}

}  // namespace
}  // namespace lattice::metal
