#include "backends/metal/simt/schedule.h"

#include <bit>
#include <numeric>

namespace lattice::metal::simt {

void Schedule::start(std::uint32_t num_threads) {
  queue_.assign(num_threads, 0);
  head_ = count_ = 0;
  ready_.fill(0);
  order_.resize((num_threads + 31) / 32);
  std::iota(order_.begin(), order_.end(), 0u);
  redraw();
  for (std::uint32_t thread = 0; thread < num_threads; ++thread) push(thread);
}

void Schedule::push(std::uint32_t thread) {
  if (kind_ == ScheduleKind::kFifo) {
    queue_[(head_ + count_) % queue_.size()] = thread;
    ++count_;
  } else {
    ready_[thread / 32] |= 1u << (thread % 32);
  }
}

std::int32_t Schedule::pop() {
  if (kind_ == ScheduleKind::kPriority) return pop_favoured();
  if (count_ == 0) return -1;
  const std::uint32_t thread = queue_[head_];
  head_ = (head_ + 1) % queue_.size();
  --count_;
  return static_cast<std::int32_t>(thread);
}

std::int32_t Schedule::pop_favoured() {
  for (const std::uint32_t group : order_) {
    std::uint32_t& lanes = ready_[group];
    if (lanes == 0) continue;
    const int lane = last_lane_first_ ? 31 - std::countl_zero(lanes) : std::countr_zero(lanes);
    lanes &= ~(1u << lane);
    return static_cast<std::int32_t>(group * 32) + lane;
  }
  return -1;
}

void Schedule::redraw() {
  if (kind_ != ScheduleKind::kPriority) return;
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
  last_lane_first_ = random_() % 2 == 1;
}

}  // namespace lattice::metal::simt
