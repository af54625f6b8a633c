#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/simt/simt_device.h"

namespace lattice::metal {

/// Argument of a kernel: an array that it may change, or constant bytes.
struct KernelArgument {
  std::span<std::byte> array = {};
  std::vector<std::byte> bytes = {};

  template <typename T>
  KernelArgument(std::vector<T>& values)  // NOLINT: reads well in a list
      : array(std::as_writable_bytes(std::span(values))) {}
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  KernelArgument(const T& value)  // NOLINT
      : bytes(std::as_bytes(std::span<const T, 1>(&value, 1)).begin(),
              std::as_bytes(std::span<const T, 1>(&value, 1)).end()) {}

  bool is_array() const { return bytes.empty(); }
};

/// Runs a kernel of `device` once, and as run_kernel().
Result<void> run_pipeline(Device& device, const Pipeline& pipeline,
                          std::vector<KernelArgument> arguments, Extent threadgroups,
                          Extent threads);

/// Runs `kernel` of `source` once on `device`; arrays are copied in and out. Argument i goes to
/// [[buffer(i)]].
Result<void> run_kernel(Device& device, std::string_view source, std::string_view kernel,
                        std::vector<KernelArgument> arguments, Extent threadgroups, Extent threads);

/// MSL's prelude before `body`, which then begins in line 1 of test.metal.
std::string test_source(std::string_view body);

}  // namespace lattice::metal
