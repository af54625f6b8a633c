// Kernels that never end are ended, wherever they spin.

#include <gmock/gmock.h>

#include "unit/backends/metal/fault_test.h"

namespace lattice::metal {
namespace {

using ::testing::HasSubstr;

const std::vector<PlantedFault> kLoops = {
    {.name = "Empty", .body = "if (tid == 3) while (true) {}\nout[tid] = x[tid];"},
    {.name = "Arithmetic",
     .body = "uint n = tid;\nwhile (n != 77) n = n % 7 + 2 * (n % 5);\nout[tid] = float(n);"},
    {.name = "Memory", .body = "while (out[tid] >= 0.0f) out[tid] = out[tid] + x[tid];"},
    {.name = "LibraryCalls",
     .body = "float v = x[tid];\nwhile (v < 2.0f) v = precise::exp(-v);\nout[tid] = v;",
     .threads = {32}},
    {.name = "Collectives", .body = "while (simd_sum(x[tid]) > 0.0f) {}\nout[tid] = 0.0f;"},
    {.name = "Barriers",
     .body = "while (true) threadgroup_barrier(mem_flags::mem_threadgroup);\nout[tid] = 0.0f;"},
};

class EndlessLoop : public ::testing::TestWithParam<PlantedFault> {};
INSTANTIATE_TEST_SUITE_P(Planted, EndlessLoop, ::testing::ValuesIn(kLoops),
                         [](const auto& planted) { return planted.param.name; });

TEST_P(EndlessLoop, IsEndedAndTheDeviceGoesOn) {
  for (const bool checked : {false, true}) {
    for (const auto kind : {simt::ScheduleKind::kFifo, simt::ScheduleKind::kPriority}) {
      simt::SimtDevice device(
          {.checked = checked, .schedule = kind, .seconds_per_threadgroup = 0.1});
      std::vector<float> x(256, 1.0f), out(256, 0.0f);
      const auto done =
          run_kernel(device, fault_source(GetParam()), "k", {x, out}, {1}, GetParam().threads);
      ASSERT_FALSE(done);
      EXPECT_THAT(done.error().message, HasSubstr("still running when its time was up"));
      EXPECT_THAT(done.error().message, HasSubstr("test.metal:"));
      const PlantedFault harmless = {.name = "", .body = "out[tid] = x[tid];"};
      const auto next = run_kernel(device, fault_source(harmless), "k", {x, out}, {1}, {128});
      EXPECT_TRUE(next) << next.error().message;
    }
  }
}

// Each threadgroup has the whole time.
TEST(Watchdog, ManyThreadgroupsMayTakeLonger) {
  simt::SimtDevice device({.checked = false, .seconds_per_threadgroup = 0.2});
  std::vector<float> x(256, 1.0f), out(256, 0.0f);
  const PlantedFault slow = {.name = "",
                             .body =
                                 "float v = x[tid];\n"
                                 "for (uint i = 0; i < 100000; ++i) v = precise::exp(-v);\n"
                                 "if (group == 0) out[tid] = v;"};
  const auto done = run_kernel(device, fault_source(slow), "k", {x, out}, {32}, {32});
  EXPECT_TRUE(done) << done.error().message;
}

}  // namespace
}  // namespace lattice::metal
