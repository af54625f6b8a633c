#include "backends/cpu/cpu_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "backends/registry.h"
#include "ops/ops.h"

namespace lattice {
namespace {

using ::testing::HasSubstr;

std::string forced_target() {
  const char* value = std::getenv("LATTICE_CPU_TARGET");
  return value == nullptr ? "" : value;
}

// Sets or, with nullptr, unsets LATTICE_CPU_TARGET for one test.
class ScopedTarget {
 public:
  explicit ScopedTarget(const char* value) : old_(forced_target()) { set(value); }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;
  ~ScopedTarget() { set(old_.empty() ? nullptr : old_.c_str()); }

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      unsetenv("LATTICE_CPU_TARGET");
    } else {
      setenv("LATTICE_CPU_TARGET", value, 1);
    }
  }
  std::string old_;
};

// The width of a packed panel gives away which kernels a backend really uses: a 1 x 1 weight takes
// one panel of weights and one of biases.
std::size_t panel_floats(const Backend& backend) {
  ThreadPool pool(1);
  const LinearPart part{Tensor::from_floats({1, 1}, std::array{1.0f})};
  return backend.pack_linear(pool, std::array{part}, WeightFormat::kF32)->num_bytes() /
         (2 * sizeof(float));
}

TEST(CpuTarget, TheForcedTargetIsTheOneThatRuns) {
  const auto backend = make_backend("cpu");
  if (!backend) GTEST_SKIP() << "hardware: " << backend.error().message;
  const std::string target((*backend)->target());
  if (!forced_target().empty()) {
    EXPECT_EQ(target, forced_target());
  }
  const std::size_t floats = panel_floats(**backend);
  if (target == "scalar") {
    EXPECT_LE(floats, 8u);
    return;
  }
  const std::map<std::string, std::size_t> expected = {
      {"avx512bf16", 32}, {"avx512vnni", 32}, {"avx512", 32}, {"avx2", 16}, {"neon", 8}};
  EXPECT_EQ(floats, expected.at(target));
}

TEST(CpuTarget, TheBestTargetIsTheDefault) {
  const auto available = available_cpu_targets(CpuFeatures::host());
  ASSERT_FALSE(available.empty());
  const ScopedTarget none(nullptr);
  const auto backend = make_backend("cpu");
  ASSERT_TRUE(backend);
  EXPECT_EQ((*backend)->target(), cpu_target_name(available.front()));
}

TEST(CpuTarget, EveryAvailableTargetCanBeForced) {
  for (const CpuTarget target : available_cpu_targets(CpuFeatures::host())) {
    const std::string name(cpu_target_name(target));
    const ScopedTarget forced(name.c_str());
    const auto backend = make_backend("cpu");
    ASSERT_TRUE(backend) << backend.error().message;
    EXPECT_EQ((*backend)->target(), name);
  }
}

TEST(CpuTarget, AnUnknownTargetIsRefusedByName) {
  const ScopedTarget forced("avx9000");
  const auto backend = make_backend("cpu");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(backend.error().message, HasSubstr("avx9000"));
  EXPECT_THAT(backend.error().message, HasSubstr("LATTICE_CPU_TARGET"));
}

TEST(CpuTarget, AnUnavailableTargetIsRefusedWithTheReason) {
  const auto available = available_cpu_targets(CpuFeatures::host());
  for (const CpuTarget target : {CpuTarget::kAvx512Bf16, CpuTarget::kAvx512Vnni, CpuTarget::kAvx512,
                                 CpuTarget::kAvx2, CpuTarget::kNeon}) {
    if (std::count(available.begin(), available.end(), target) != 0) continue;
    const std::string name(cpu_target_name(target));
    const auto result = select_cpu_target(name, CpuFeatures::host());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(result.error().message, HasSubstr(name));
    EXPECT_THAT(result.error().message, HasSubstr("available"));
  }
}

}  // namespace
}  // namespace lattice
