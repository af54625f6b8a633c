#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/cpu_quota.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

class CpuQuota : public ::testing::Test {
 protected:
  CpuQuota() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / (std::string("lattice_quota_") + test->name());
    fs::remove_all(root_);
  }
  ~CpuQuota() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(CpuQuota, NothingWithoutCgroups) { EXPECT_EQ(cgroup_cpu_limit(root_), std::nullopt); }

TEST_F(CpuQuota, V2RoundsUp) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), 2u);
}

TEST_F(CpuQuota, V2WithoutQuota) {
  write("proc/self/cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), std::nullopt);
}

TEST_F(CpuQuota, V2TheTightestAncestorCounts) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), 2u);
}

TEST_F(CpuQuota, V2InAContainerThatMountsItsOwnGroupAsRoot) {
  write("proc/self/cgroup", "0::/kubepods/pod1/container\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), 1u);
}

TEST_F(CpuQuota, V1) {
  write("proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/id\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/id/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/id/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), 3u);
}

TEST_F(CpuQuota, V1WithoutQuota) {
  write("proc/self/cgroup", "4:cpu:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), std::nullopt);
}

TEST_F(CpuQuota, IgnoresDamagedFiles) {
  write("proc/self/cgroup", "nonsense\n0:\n0::/\n");
  write("sys/fs/cgroup/cpu.max", "fast 0\n");
  EXPECT_EQ(cgroup_cpu_limit(root_), std::nullopt);
}

}  // namespace
}  // namespace lattice
