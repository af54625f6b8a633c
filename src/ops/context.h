#pragma once

#include <memory>
#include <string_view>

#include "base/thread_pool.h"
#include "ops/backend.h"
#include "ops/workspace.h"

namespace lattice {

/// What one running forward pass owns: its backend, the threads it may use and scratch memory that
/// is kept between passes, so that a steady state allocates nothing. Not thread-safe: one Context
/// per concurrent pass.
class Context {
 public:
  Context(std::shared_ptr<const Backend> backend, std::shared_ptr<ThreadPool> threads)
      : backend_(std::move(backend)), threads_(std::move(threads)) {}

  const Backend& backend() const { return *backend_; }
  ThreadPool& threads() { return *threads_; }
  Workspace& workspace() { return workspace_; }

  /// Begins a pass, which a GPU is to leave to the CPU if `host_only`.
  void begin_pass(bool host_only) {
    host_only_ = host_only;
    other_device_ = {};
  }
  bool host_only() const { return host_only_; }
  /// The backend that computed a part of the pass in place of backend(); empty if none did.
  std::string_view other_device() const { return other_device_; }
  /// `name` must outlive the pass.
  void set_other_device(std::string_view name) { other_device_ = name; }

 private:
  std::shared_ptr<const Backend> backend_;
  std::shared_ptr<ThreadPool> threads_;
  Workspace workspace_;
  bool host_only_ = false;
  std::string_view other_device_;
};

}  // namespace lattice
