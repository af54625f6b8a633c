#include "engine/context_pool.h"

namespace lattice {
namespace {

// A rare huge batch must not hold its memory for the rest of the process's life.
constexpr std::size_t kMaxKeptBytes = std::size_t{256} << 20;

}  // namespace

std::unique_ptr<Context> ContextPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Context> context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  return std::make_unique<Context>(backend_, threads_);
}

void ContextPool::give_back(std::unique_ptr<Context> context) {
  context->workspace().trim(kMaxKeptBytes);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
}

}  // namespace lattice
