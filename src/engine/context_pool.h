#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ops/context.h"

namespace lattice {

/// Lends Contexts to concurrent calls and keeps them, with their scratch memory, for the next one.
/// Thread-safe; must outlive its leases.
class ContextPool {
 public:
  ContextPool(std::shared_ptr<const Backend> backend, std::shared_ptr<ThreadPool> threads)
      : backend_(std::move(backend)), threads_(std::move(threads)) {}

  /// A Context for the lifetime of the lease.
  class Lease {
   public:
    explicit Lease(ContextPool& pool) : pool_(pool), context_(pool.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_.give_back(std::move(context_)); }
    Context& operator*() { return *context_; }

   private:
    ContextPool& pool_;
    std::unique_ptr<Context> context_;
  };

  ThreadPool& threads() { return *threads_; }

 private:
  std::unique_ptr<Context> take();
  void give_back(std::unique_ptr<Context> context);

  std::shared_ptr<const Backend> backend_;
  std::shared_ptr<ThreadPool> threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
};

}  // namespace lattice
