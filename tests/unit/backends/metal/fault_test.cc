#include "unit/backends/metal/fault_test.h"

#include <gmock/gmock.h>

namespace lattice::metal {
namespace {

Result<void> execute(const PlantedFault& fault, const simt::SimtOptions& options) {
  simt::SimtDevice device(options);
  std::vector<float> x(256, 1.0f), out(256, 0.0f);
  return run_kernel(device, fault_source(fault), "k", {x, out}, fault.threadgroups, fault.threads);
}

std::vector<simt::SimtOptions> schedules() {
  std::vector<simt::SimtOptions> options = {{.checked = true}};
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    options.push_back({.checked = true, .schedule = simt::ScheduleKind::kPriority, .seed = seed});
  }
  return options;
}

}  // namespace

std::string fault_source(const PlantedFault& fault) {
  return test_source(fault.helpers + R"(
kernel void k(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
              uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint sg [[simdgroup_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
)" + fault.body + "\n}\n");
}

void expect_caught(const PlantedFault& fault) {
  for (const simt::SimtOptions& options : schedules()) {
    const auto done = execute(fault, options);
    ASSERT_FALSE(done) << "not caught with seed " << options.seed;
    EXPECT_THAT(done.error().message, ::testing::HasSubstr("kernel k"));
    for (const std::string& part : fault.reported) {
      EXPECT_THAT(done.error().message, ::testing::HasSubstr(part));
    }
  }
}

void expect_clean(const PlantedFault& fault) {
  for (const simt::SimtOptions& options : schedules()) {
    const auto done = execute(fault, options);
    EXPECT_TRUE(done) << done.error().message;
  }
}

}  // namespace lattice::metal
