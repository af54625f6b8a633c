#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/context.h"

namespace lattice {

/// Lends Contexts to concurrent calls and keeps them, with their scratch memory, for the next one.
/// Thread-safe; must outlive its leases.
class ContextPool {
 public:
  /// A pass with a sequence of more than `gpu_max_seq_len` tokens stays on the CPU.
  ContextPool(std::shared_ptr<const Backend> backend, std::shared_ptr<ThreadPool> threads,
              std::optional<std::int64_t> gpu_max_seq_len = std::nullopt)
      : backend_(std::move(backend)),
        threads_(std::move(threads)),
        gpu_max_seq_len_(gpu_max_seq_len) {}

  /// A Context for one pass, whose longest sequence has `longest` tokens with those before them.
  class Lease {
   public:
    Lease(ContextPool& pool, std::int64_t longest) : pool_(pool), context_(pool.take()) {
      context_->begin_pass(longest > pool.max_gpu_tokens());
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_.give_back(std::move(context_)); }
    Context& operator*() { return *context_; }
    /// The device that computed all or a part of the pass so far, if not the backend's own.
    std::string_view other_device() const { return context_->other_device(); }

   private:
    ContextPool& pool_;
    std::unique_ptr<Context> context_;
  };

  ThreadPool& threads() { return *threads_; }
  /// The longest sequence that a GPU computes.
  std::int64_t max_gpu_tokens() const {
    return gpu_max_seq_len_.value_or(std::numeric_limits<std::int64_t>::max());
  }

 private:
  std::unique_ptr<Context> take();
  void give_back(std::unique_ptr<Context> context);

  std::shared_ptr<const Backend> backend_;
  std::shared_ptr<ThreadPool> threads_;
  std::optional<std::int64_t> gpu_max_seq_len_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
};

}  // namespace lattice
