#pragma once

#include <memory>

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

 private:
  std::shared_ptr<const Backend> backend_;
  std::shared_ptr<ThreadPool> threads_;
  Workspace workspace_;
};

}  // namespace lattice
