// What the lanes of a SIMD group give one another once all have arrived at an operation.

#include <cstring>

#include "backends/metal/simt/executor.h"

namespace lattice::metal::simt {
namespace {

// The lane that lane `lane` takes its value from: itself where the operation says so, count or more
// if there is no such lane.
std::uint64_t source_lane(const Request& request, std::uint32_t lane, std::uint32_t count) {
  const std::uint64_t argument = request.argument;
  switch (request.exchange) {
    case Exchange::kUp:
      return lane >= argument ? lane - argument : lane;
    case Exchange::kDown:
      return lane + argument < count ? lane + argument : lane;
    case Exchange::kXor:
      return lane ^ argument;
    default:
      return argument;
  }
}

}  // namespace

void Executor::resolve(SimdGroup& group, std::uint32_t first_thread) {
  const Request& own = *threads_[current_].request;
  const auto fault_at = [&](const char* what, std::uint32_t lane) {
    const Request& other = *group.lanes[lane];
    fail_with(
        {.what = what,
         .here = {.thread = current_, .site = own.site, .doing = own.name},
         .other = Place{.thread = first_thread + lane, .site = other.site, .doing = other.name}});
  };
  for (std::uint32_t lane = 0; lane < group.num_lanes && own.exchange != Exchange::kShuffle;
       ++lane) {
    if (group.lanes[lane]->argument != own.argument) {
      fault_at("lanes disagree on the argument of a collective", lane);
    }
  }
  if (own.exchange == Exchange::kCombine) {
    own.combine(group.lanes.data(), group.num_lanes);
  } else if (own.exchange != Exchange::kNone) {
    for (std::uint32_t lane = 0; lane < group.num_lanes; ++lane) {
      const Request& request = *group.lanes[lane];
      const std::uint64_t source = source_lane(request, lane, group.num_lanes);
      if (source >= group.num_lanes) fault_at("value of a lane that does not exist", lane);
      std::memcpy(request.out, group.lanes[source]->in, request.size);
    }
  }
  if (own.fence & kFenceThreadgroup) ++group.epochs[static_cast<int>(Space::kThreadgroup)];
  if (own.fence & kFenceDevice) ++group.epochs[static_cast<int>(Space::kDevice)];
  group.num_waiting = 0;
  threads_[current_].request = nullptr;
  for (std::uint32_t lane = 0; lane < group.num_lanes; ++lane) {
    const std::uint32_t thread = first_thread + lane;
    if (thread == current_) continue;
    threads_[thread].state = State::kReady;
    threads_[thread].request = nullptr;
    schedule_.push(thread);
  }
}

}  // namespace lattice::metal::simt
