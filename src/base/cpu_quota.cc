#include "base/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace lattice {
namespace {

namespace fs = std::filesystem;

std::optional<std::size_t> cores(double quota, double period) {
  constexpr double kMostCores = 1 << 20;
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  const double count = std::min(quota / period, kMostCores);
  const auto whole = static_cast<std::size_t>(count);
  return std::max<std::size_t>(1, whole + (count > static_cast<double>(whole) ? 1 : 0));
}

// cpu.max holds "QUOTA PERIOD" or "max PERIOD".
std::optional<std::size_t> read_v2(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period)) return std::nullopt;
  return cores(quota, period);
}

// A quota of -1 means none.
std::optional<std::size_t> read_v1(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return cores(quota, period);
}

struct Group {
  fs::path mount;
  fs::path path;  // relative to the mount
  bool is_v2 = false;
};

bool lists_controller(const std::string& controllers, const std::string& name) {
  return ("," + controllers + ",").find("," + name + ",") != std::string::npos;
}

// Lines of /proc/self/cgroup are ID:CONTROLLERS:PATH; v2 is "0::PATH".
std::vector<Group> own_groups(const fs::path& root) {
  std::vector<Group> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    const fs::path base = root / "sys/fs/cgroup";
    if (controllers.empty()) {
      groups.push_back({base, path, true});
      groups.push_back({base / "unified", path, true});  // the hybrid layout
    } else if (lists_controller(controllers, "cpu")) {
      groups.push_back({base / "cpu", path, false});
      groups.push_back({base / controllers, path, false});
    }
  }
  return groups;
}

}  // namespace

std::optional<std::size_t> cgroup_cpu_limit(const fs::path& root) {
  std::optional<std::size_t> limit;
  for (const Group& group : own_groups(root)) {
    // A container often mounts its own group as the root: then only the last step finds a file.
    fs::path path = group.path;
    while (true) {
      const fs::path folder = group.mount / path;
      const auto found = group.is_v2 ? read_v2(folder) : read_v1(folder);
      if (found) limit = std::min(limit.value_or(*found), *found);
      if (path.empty()) break;
      path = path.parent_path();
    }
  }
  return limit;
}

}  // namespace lattice
