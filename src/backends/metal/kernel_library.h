#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "backends/metal/device.h"

namespace lattice::metal {

/// The MSL source, compiled for one shape of heads. Pipelines are made when they are first asked
/// for. Thread-safe.
class KernelLibrary {
 public:
  KernelLibrary(Device& device, std::unique_ptr<Library> library)
      : device_(device), library_(std::move(library)) {}

  /// The kernel `name`. Throws LatticeError when the device cannot make it.
  const Pipeline& pipeline(std::string_view name);

 private:
  Device& device_;
  std::unique_ptr<Library> library_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Pipeline>, std::less<>> pipelines_;
};

/// The libraries of all head shapes that were asked for so far, and the one for the kernels that do
/// not depend on them. Thread-safe.
class KernelLibraries {
 public:
  explicit KernelLibraries(Device& device) : device_(device) {}

  /// For heads of `head_dim` with `groups` query heads per KV head; compiled the first time. Throws
  /// LatticeError: kUnsupported for a shape without kernels, else as the device says.
  KernelLibrary& for_heads(std::int64_t head_dim, std::int64_t groups);
  /// For the kernels that are the same for every shape; compiled the first time.
  KernelLibrary& for_any_heads();

 private:
  using Shape = std::pair<std::int64_t, std::int64_t>;
  std::unique_ptr<KernelLibrary> compile(const Result<std::string>& source);

  Device& device_;
  std::mutex mutex_;
  std::map<Shape, std::unique_ptr<KernelLibrary>> libraries_;
  std::unique_ptr<KernelLibrary> for_any_heads_;
};

}  // namespace lattice::metal
