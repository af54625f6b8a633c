// Missing barriers and other races: right by luck on most schedules, and caught all the same.

#include "unit/backends/metal/fault_test.h"

namespace lattice::metal {
namespace {

const std::vector<PlantedFault> kRaces = {
    {.name = "NoBarrierBeforeAReadOfAnotherSimdGroup",
     .body = "threadgroup float scratch[4];\nconst float sum = simd_sum(x[tid]);\n"
             "if (lane == 0) scratch[sg] = sum;\n"
             "out[tid] = scratch[0] + scratch[1] + scratch[2] + scratch[3];",
     .reported = {"scratch", "test.metal:8"}},
    {.name = "NoBarrierBeforeScratchIsUsedAgain",
     .body = "threadgroup float scratch[4];\nout[tid] = total(x[tid], scratch, lane, sg) + "
             "total(x[tid], scratch, lane, sg);",
     .reported = {"race", "scratch", "test.metal:1"},
     .helpers = "inline float total(float v, threadgroup float* scratch, uint lane, uint sg) { "
                "v = simd_sum(v); if (lane == 0) scratch[sg] = v; "
                "threadgroup_barrier(mem_flags::mem_threadgroup); "
                "return scratch[0] + scratch[1] + scratch[2] + scratch[3]; }"},
    {.name = "NoBarrierAfterATileIsLoaded",
     .body = "threadgroup float tile[128];\ntile[tid] = x[tid];\nout[tid] = tile[127 - tid];",
     .reported = {"tile", "test.metal:7"}},
    {.name = "NoBarrierBeforeTheNextTileIsLoaded",
     .body = "threadgroup float tile[128];\nfloat sum = 0.0f;\nfor (uint i = 0; i < 2; ++i) {\n"
             "  tile[tid] = x[i * 128 + tid];\n"
             "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
             "  sum += tile[127 - tid];\n}\nout[tid] = sum;",
     .reported = {"race", "tile", "test.metal:8", "test.metal:10"}},
    {.name = "NoBarrierBeforeAMerge",
     .body = "threadgroup float best[4];\nconst float m = simd_max(x[tid]);\n"
             "if (lane == 0) best[sg] = m;\nif (sg == 0) out[tid] = best[lane % 4];",
     .reported = {"best", "test.metal:8"}},
    {.name = "NoSimdgroupBarrierInAnExchangeOfLanes",
     .body = "threadgroup float tile[128];\ntile[tid] = x[tid];\nout[tid] = tile[tid ^ 1];",
     .reported = {"tile", "test.metal:7"}},
    {.name = "SimdgroupBarrierWhereTheThreadgroupMustMeet",
     .body = "threadgroup float tile[128];\ntile[tid] = x[tid];\n"
             "simdgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = tile[127 - tid];",
     .reported = {"tile", "test.metal:8"}},
    {.name = "BarrierForDeviceMemoryOnly",
     .body = "threadgroup float tile[128];\ntile[tid] = x[tid];\n"
             "threadgroup_barrier(mem_flags::mem_device);\nout[tid] = tile[127 - tid];",
     .reported = {"race", "tile", "test.metal:6", "test.metal:8"}},
    {.name = "BarrierForThreadgroupMemoryOnly",
     .body = "out[tid] = x[tid];\nthreadgroup_barrier(mem_flags::mem_threadgroup);\n"
             "const float v = out[127 - tid];\nthreadgroup_barrier(mem_flags::mem_device);\n"
             "out[tid] = v;",
     .reported = {"race", "out", "test.metal:5", "test.metal:7"}},
    {.name = "ASumIsNoFence",
     .body = "threadgroup float tile[128];\ntile[tid] = x[tid];\nfloat v = simd_sum(x[tid]);\n"
             "out[tid] = v + tile[tid ^ 1];",
     .reported = {"race", "tile", "test.metal:6", "test.metal:8"}},
    {.name = "TwoThreadsWriteOneWord",
     .body = "out[tid / 2] = x[tid];",
     .reported = {"race", "out", "test.metal:5"}},
    {.name = "TwoThreadgroupsWriteOneWord",
     .body = "out[tid] = float(group);",
     .reported = {"race between threadgroups", "out", "test.metal:5"},
     .threadgroups = {2}},
    {.name = "AThreadgroupReadsWhatAnotherWrites",
     .body =
         "const float v = out[(group * 64 + tid + 64) % 256];\nout[group * 64 + tid] = v + 1.0f;",
     .reported = {"race between threadgroups", "out", "test.metal:"},
     .threadgroups = {4},
     .threads = {64}},
    {.name = "AnAtomicAndAPlainAccess",
     .body = "device atomic_uint* counter = (device atomic_uint*)out;\n"
             "if (tid == 0) out[0] = 0.0f;\n"
             "atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);",
     .reported = {"race", "out", "test.metal:6", "test.metal:7"}},
};
LATTICE_PLANTED_FAULTS(SimtRaces, kRaces)

TEST(SimtRaces, BarriersOfEachKindOrderTheirMemory) {
  expect_clean({.name = "",
                .body = "threadgroup float tile[128];\nout[tid] = x[tid];\ntile[tid] = x[tid];\n"
                        "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);\n"
                        "const float v = out[127 - tid] + tile[127 - tid];\n"
                        "threadgroup_barrier(mem_flags::mem_device);\nout[tid] = v;",
                .reported = {}});
}

TEST(SimtRaces, ReadingTogetherIsNoRace) {
  expect_clean({.name = "",
                .body = "threadgroup float tile[128];\ntile[tid] = x[0];\n"
                        "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                        "out[group * 128 + tid] = tile[0] + tile[lane] + x[5];",
                .reported = {},
                .threadgroups = {2}});
}

}  // namespace
}  // namespace lattice::metal
