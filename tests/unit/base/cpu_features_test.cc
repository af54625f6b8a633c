#include "base/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace lattice {
namespace {

constexpr auto kNumFeatures = static_cast<unsigned>(CpuFeature::kArmBf16) + 1;

// The flags that the kernel itself found; each of ours must agree in both directions, since one
// wrong bit is an illegal instruction on somebody's machine.
TEST(CpuFeatures, AgreeWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line) && flags.empty();) {
    const auto colon = line.find(':');
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;) flags.insert(word);
  }
#if defined(__APPLE__)
  GTEST_SKIP() << "hardware: no Linux, whose kernel lists what it found";
#endif
  ASSERT_FALSE(flags.empty());
#if defined(__aarch64__)
  // A user-mode emulator shows the file of the machine it runs on.
  if (flags.contains("fpu")) GTEST_SKIP() << "hardware: /proc/cpuinfo describes an x86 processor";
#endif
  for (unsigned i = 0; i < kNumFeatures; ++i) {
    const auto feature = static_cast<CpuFeature>(i);
    const std::string name(cpu_feature_name(feature));
    EXPECT_EQ(CpuFeatures::host().has(feature), flags.contains(name)) << name;
  }
}

TEST(CpuFeatures, NamesAreThoseOfTheFeaturesPresent) {
  for (unsigned i = 0; i < kNumFeatures; ++i) {
    const auto feature = static_cast<CpuFeature>(i);
    EXPECT_NE(cpu_feature_name(feature), "unknown");
    const auto names = CpuFeatures::host().names();
    EXPECT_EQ(CpuFeatures::host().has(feature),
              std::count(names.begin(), names.end(), cpu_feature_name(feature)) == 1);
  }
}

}  // namespace
}  // namespace lattice
