#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace lattice {

/// The number of cores that the cgroup CPU quota of this process allows, rounded up; nothing
/// without a quota. Every ancestor group counts; cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us) are
/// read. `root` stands for "/" (tests use a folder).
std::optional<std::size_t> cgroup_cpu_limit(const std::filesystem::path& root = "/");

}  // namespace lattice
