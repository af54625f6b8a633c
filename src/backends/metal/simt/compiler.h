#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/metal/simt/abi.h"
#include "base/result.h"

namespace lattice::metal::simt {

/// How kernels are compiled.
struct CompileOptions {
  /// Every access to memory is reported to the executor, array indices and alignment are checked.
  bool checked = true;
  /// Where compiled libraries are kept; the key is a hash of everything that goes into one.
  std::string cache_directory;
};

/// A compiled library in this process's memory. Unloaded with the object.
class LoadedModule {
 public:
  LoadedModule(void* handle, const Module& module, std::string path)
      : handle_(handle), module_(module), path_(std::move(path)) {}
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  ~LoadedModule();

  const Module& module() const { return module_; }
  const std::string& path() const { return path_; }
  /// The kernel `name`, or null.
  const KernelRow* kernel(std::string_view name) const;

 private:
  void* handle_;
  Module module_;
  std::string path_;
};

/// Compiles MSL with clang-19 as C++ against the shim, or takes the result from the cache, and
/// loads it. Thread-safe, also against other processes with the same cache. Errors: kInternal with
/// the compiler's messages; kUnavailable when the compiler cannot be run.
Result<std::unique_ptr<LoadedModule>> compile_module(std::string_view source,
                                                     const CompileOptions& options);

}  // namespace lattice::metal::simt
