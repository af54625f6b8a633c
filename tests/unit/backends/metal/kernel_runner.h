#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/metal/simt/simt_device.h"

namespace lattice::metal {

/// Argument of a kernel: an array that it may change, or constant bytes.
struct KernelArgument {
  std::vector<float>* array = nullptr;
  std::vector<std::byte> bytes = {};

  KernelArgument(std::vector<float>& values) : array(&values) {}  // NOLINT: reads well in a list
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  KernelArgument(const T& value)  // NOLINT
      : bytes(std::as_bytes(std::span<const T, 1>(&value, 1)).begin(),
              std::as_bytes(std::span<const T, 1>(&value, 1)).end()) {}
};

/// Runs `kernel` of `source` once on `device`; arrays are copied in and out. Argument i goes to
/// [[buffer(i)]].
Result<void> run_kernel(Device& device, std::string_view source, std::string_view kernel,
                        std::vector<KernelArgument> arguments, Extent threadgroups, Extent threads);

/// MSL's prelude before `body`, which then begins in line 1 of test.metal.
std::string test_source(std::string_view body);

}  // namespace lattice::metal
