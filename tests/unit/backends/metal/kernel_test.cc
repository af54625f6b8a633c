#include "unit/backends/metal/kernel_test.h"

#include <cmath>
#include <cstring>
#include <map>

#include "backends/metal/kernel_library.h"

namespace lattice::metal {
namespace {

// The device of one schedule and what was compiled for it in this process.
struct Target {
  explicit Target(std::uint32_t seed)
      : device({.checked = true,
                .schedule = seed == 0 ? simt::ScheduleKind::kFifo : simt::ScheduleKind::kPriority,
                .seed = seed}),
        libraries(device) {}

  simt::SimtDevice device;
  KernelLibraries libraries;
};

Target& target_for(std::uint32_t seed) {
  static std::map<std::uint32_t, Target> targets;
  return targets.try_emplace(seed, seed).first->second;
}

}  // namespace

void KernelTest::run(std::optional<HeadShape> shape, std::string_view kernel,
                     std::vector<KernelArgument> arguments, Extent threadgroups, Extent threads) {
  std::vector<std::vector<std::byte>> before, first;
  for (const KernelArgument& argument : arguments) {
    before.emplace_back(argument.array.begin(), argument.array.end());
  }
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    Target& target = target_for(seed);
    KernelLibrary& library = shape ? target.libraries.for_heads(shape->head_dim, shape->groups)
                                   : target.libraries.for_any_heads();
    const Pipeline& pipeline = library.pipeline(kernel);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::copy(before[i].begin(), before[i].end(), arguments[i].array.begin());
    }
    const auto done = run_pipeline(target.device, pipeline, arguments, threadgroups, threads);
    ASSERT_TRUE(done) << done.error().message;
    std::vector<std::vector<std::byte>> after;
    for (const KernelArgument& argument : arguments) {
      after.emplace_back(argument.array.begin(), argument.array.end());
    }
    if (seed == 0) first = after;
    ASSERT_EQ(after, first) << "the result depends on the schedule";
  }
}

std::vector<float> KernelTest::numbers(std::size_t count, float scale) {
  std::vector<float> values(count);
  for (float& value : values) value = (static_cast<float>(random_()) * 0x1p-31f - 1.0f) * scale;
  return values;
}

void expect_close(const std::vector<float>& got, const std::vector<double>& expected,
                  double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(static_cast<double>(got[i]) - expected[i]), tolerance)
        << "element " << i << ": got " << got[i] << ", expected " << expected[i];
  }
}

std::string shape_name(const ::testing::TestParamInfo<HeadShape>& info) {
  return "head_dim_" + std::to_string(info.param.head_dim) + "_groups_" +
         std::to_string(info.param.groups);
}

}  // namespace lattice::metal
