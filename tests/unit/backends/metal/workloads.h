#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "backends/metal/device.h"

namespace lattice::metal {

/// Ops at shapes of the op tests, small ones, that together run every kernel of one group.
struct Workload {
  std::string_view group;  ///< the file of kernels without ".metal"
  /// Throws what the device reports.
  void (*run)(const std::shared_ptr<Device>& device);
};

inline void PrintTo(const Workload& workload, std::ostream* out) { *out << workload.group; }

/// One for each file that has kernels.
std::span<const Workload> workloads();

/// Heads that the workloads' kernels are specialised for.
inline constexpr int kWorkloadHeadDim = 64;
inline constexpr int kWorkloadGroups = 2;

}  // namespace lattice::metal
