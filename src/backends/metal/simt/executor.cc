#include "backends/metal/simt/executor.h"

#include <bit>
#include <cstring>

namespace lattice::metal::simt {
namespace {

// The executor whose fibers run on this thread.
thread_local Executor* running = nullptr;

constexpr std::uint8_t kPoison = 0xFF;  // a NaN as float and as half

bool same_site(const Request& a, const Request& b) {
  return a.site.line == b.site.line && a.site.column == b.site.column && a.name == b.name &&
         std::strcmp(a.site.file, b.site.file) == 0;
}

Place place_of(std::uint32_t thread, const Request& request) {
  return {.thread = thread, .site = request.site, .doing = request.name};
}

}  // namespace

std::optional<Fault> Executor::run(const Launch& launch, Extent* threadgroup) {
  launch_ = &launch;
  running = this;
  Watchdog watchdog(seconds_per_threadgroup_, launch.module->image_begin, launch.module->image_end,
                    &on_expired);
  watchdog_ = &watchdog;
  fault_.reset();
  first_run_ = run_ + 1;
  last_region_ = 0;
  const Extent grid = launch.threadgroups;
  for (std::uint64_t i = 0; i < grid.volume() && !fault_; ++i) {
    *threadgroup = {static_cast<std::uint32_t>(i % grid.x),
                    static_cast<std::uint32_t>(i / grid.x % grid.y),
                    static_cast<std::uint32_t>(i / grid.x / grid.y)};
    start_threadgroup(*threadgroup);
    current_ = static_cast<std::uint32_t>(schedule_.pop());
    lattice_simt_switch(&main_, threads_[current_].stack_pointer);
  }
  running = nullptr;
  return fault_;
}

void Executor::start_threadgroup(Extent position) {
  const Extent size = launch_->threads;
  const Extent grid = launch_->threadgroups;
  const auto num_threads = static_cast<std::uint32_t>(size.volume());
  threads_.assign(num_threads, {});
  groups_.assign((num_threads + kSimdWidth - 1) / kSimdWidth, {});
  watchdog_->restart();
  num_at_barrier_ = num_returned_ = 0;
  epochs_[0] = epochs_[1] = 0;
  ++run_;
  poison_threadgroup_memory();
  for (std::uint32_t t = 0; t < num_threads; ++t) {
    ++groups_[t / kSimdWidth].num_lanes;
    threads_[t].invocation = {launch_->buffers,
                              {t % size.x, t / size.x % size.y, t / size.x / size.y},
                              {position.x, position.y, position.z},
                              {size.x, size.y, size.z},
                              {grid.x, grid.y, grid.z},
                              t};
    threads_[t].stack_pointer = stacks_.prepare(t, &thread_main, this);
  }
  schedule_.start(num_threads);
}

void Executor::poison_threadgroup_memory() {
  for (std::uint32_t i = 0; i < launch_->module->num_arrays; ++i) {
    const ThreadgroupArray& array = launch_->module->arrays[i];
    if (std::strcmp(array.kernel, launch_->kernel->name) == 0) {
      std::memset(array.data, kPoison, array.size);
    }
  }
}

void Executor::thread_main(void* argument) {
  auto* self = static_cast<Executor*>(argument);
  self->launch_->kernel->entry(self->threads_[self->current_].invocation);
  self->thread_returned();
}

void Executor::yield() {
  const std::uint32_t from = current_;
  const std::int32_t next = schedule_.pop();
  if (next < 0) {
    lattice_simt_switch(&threads_[from].stack_pointer, main_);
    return;
  }
  current_ = static_cast<std::uint32_t>(next);
  if (current_ == from) return;
  lattice_simt_switch(&threads_[from].stack_pointer, threads_[current_].stack_pointer);
}

void Executor::thread_returned() {
  Thread& thread = threads_[current_];
  thread.state = State::kReturned;
  ++own_group().num_returned;
  ++num_returned_;
  const std::uint32_t first = current_ / kSimdWidth * kSimdWidth;
  const Request here{.name = "return"};
  if (own_group().num_waiting > 0) {
    divergence("divergent collective: a thread returned without it", here,
               waiting_thread(first, first + own_group().num_lanes, State::kAtCollective));
  }
  if (num_at_barrier_ > 0) {
    divergence("divergent barrier: a thread returned without it", here,
               waiting_thread(0, static_cast<std::uint32_t>(threads_.size()), State::kAtBarrier));
  }
  yield();
}

std::uint32_t Executor::waiting_thread(std::uint32_t begin, std::uint32_t end, State state) const {
  while (begin < end && threads_[begin].state != state) ++begin;
  return begin;
}

void Executor::divergence(const char* what, const Request& request, std::uint32_t other) {
  Fault fault{.what = what, .here = place_of(current_, request)};
  if (request.site.file == nullptr) fault.here.site.reset();
  const Request* theirs = threads_[other].request;
  if (theirs != nullptr) fault.other = place_of(other, *theirs);
  if (theirs == nullptr) fault.other = Place{.thread = other, .doing = "returned"};
  fail_with(fault);
}

void Executor::fail_with(const Fault& fault) {
  fault_ = fault;
  void* never_resumed = nullptr;
  lattice_simt_switch(&never_resumed, main_);
  __builtin_unreachable();
}

// On the stack of a kernel's thread, instead of its own code.
void Executor::on_expired(const void* pc) {
  // As for places that hooks are called from, the address after the instruction's first byte.
  const void* after = static_cast<const char*>(pc) + 1;
  running->fail_with({.what = kStillRunning, .here = {.thread = running->current_, .pc = after}});
}

void Executor::arrive_at_barrier(const Request& request) {
  check_time(place_of(current_, request));
  const auto num_threads = static_cast<std::uint32_t>(threads_.size());
  Thread& thread = threads_[current_];
  if (num_returned_ > 0) {
    divergence("divergent barrier: a thread returned before it", request,
               waiting_thread(0, num_threads, State::kReturned));
  }
  if (own_group().num_waiting > 0) {
    const std::uint32_t first = current_ / kSimdWidth * kSimdWidth;
    divergence("divergent barrier", request,
               waiting_thread(first, first + own_group().num_lanes, State::kAtCollective));
  }
  if (num_at_barrier_ > 0) {
    const std::uint32_t other = waiting_thread(0, num_threads, State::kAtBarrier);
    if (!same_site(request, *threads_[other].request)) {
      divergence("divergent barrier", request, other);
    }
  }
  ++own_group().num_at_barrier;
  ++num_at_barrier_;
  thread.request = &request;
  thread.state = State::kAtBarrier;
  if (num_at_barrier_ == num_threads) release_barrier();
  yield();
}

void Executor::release_barrier() {
  const unsigned fence = threads_[current_].request->fence;
  if (fence & kFenceThreadgroup) ++epochs_[static_cast<int>(Space::kThreadgroup)];
  if (fence & kFenceDevice) ++epochs_[static_cast<int>(Space::kDevice)];
  num_at_barrier_ = 0;
  for (SimdGroup& group : groups_) group.num_at_barrier = 0;
  schedule_.redraw();
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    threads_[t].state = State::kReady;
    threads_[t].request = nullptr;
    schedule_.push(t);
  }
}

void Executor::arrive_at_collective(const Request& request) {
  check_time(place_of(current_, request));
  SimdGroup& group = own_group();
  const std::uint32_t first = current_ / kSimdWidth * kSimdWidth;
  const std::uint32_t end = first + group.num_lanes;
  if (group.num_returned > 0) {
    divergence("divergent collective: a thread returned before it", request,
               waiting_thread(first, end, State::kReturned));
  }
  if (group.num_at_barrier > 0) {
    divergence("divergent collective", request, waiting_thread(first, end, State::kAtBarrier));
  }
  if (group.num_waiting > 0) {
    const std::uint32_t other = waiting_thread(first, end, State::kAtCollective);
    if (!same_site(request, *threads_[other].request)) {
      divergence("divergent collective", request, other);
    }
  }
  Thread& thread = threads_[current_];
  thread.request = &request;
  group.lanes[current_ - first] = &request;
  if (++group.num_waiting < group.num_lanes) {
    thread.state = State::kAtCollective;
    yield();
    return;
  }
  resolve(group, first);
}

void Executor::on_access(const char* address, std::uint32_t size, Access kind, const void* pc) {
  if (is_harmless(address, size, kind)) return;
  const char* doing = kind == Access::kRead ? "read" : "write";
  const Place here{.thread = current_, .pc = pc, .doing = doing};
  check_time(here);
  const Region* region = find_region(address);
  if (region == nullptr) fail_with({.what = "access outside every buffer and array", .here = here});
  const auto offset = static_cast<std::size_t>(address - region->begin);
  const char* what = nullptr;
  if (offset + size > region->num_bytes) what = "access across the end";
  if (kind != Access::kRead && region->is_read_only) what = "write to read-only memory";
  std::optional<Fault> fault;
  if (what != nullptr) {
    fault = Fault{.what = what};
  } else if (region->shadow != nullptr) {
    const auto space = static_cast<int>(region->space);
    const Accessor who{.run = run_,
                       .epoch = epochs_[space],
                       .simd_epoch = own_group().epochs[space],
                       .thread = static_cast<std::uint16_t>(current_),
                       .is_atomic = kind == Access::kAtomic,
                       .pc = pc};
    // Threadgroup memory is another one in each run.
    const std::uint32_t first = region->space == Space::kThreadgroup ? run_ : first_run_;
    fault = region->shadow->access(offset, size, who, kind != Access::kRead, first);
  }
  if (!fault) return;
  fault->here = here;
  fault->memory = region->name.c_str();
  fault->offset = static_cast<std::int64_t>(offset);
  fault->memory_bytes = region->num_bytes;
  fail_with(*fault);
}

void Executor::check_alignment(const void* address, std::uint32_t alignment, const void* pc) {
  if (std::bit_cast<std::uintptr_t>(address) % alignment == 0) return;
  fail_with({.what = "misaligned pointer", .here = {.thread = current_, .pc = pc}});
}

// A thread's own stack, and constants of the library.
bool Executor::is_harmless(const char* address, std::uint32_t size, Access kind) const {
  if (stacks_.contains(current_, address)) return true;
  const Module& module = *launch_->module;
  const bool is_in_image = address >= module.image_begin && address + size <= module.image_end;
  const bool is_threadgroup =
      address >= module.threadgroup_begin && address < module.threadgroup_end;
  return kind == Access::kRead && is_in_image && !is_threadgroup;
}

const Region* Executor::find_region(const char* address) {
  const auto regions = launch_->regions;
  if (last_region_ < regions.size() && regions[last_region_].contains(address)) {
    return &regions[last_region_];
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (!regions[i].contains(address)) continue;
    last_region_ = i;
    return &regions[i];
  }
  return nullptr;
}

const Runtime& Executor::runtime() {
  static constexpr Runtime kRuntime = {
      [](const Request& request) { running->arrive_at_barrier(request); },
      [](const Request& request) { running->arrive_at_collective(request); },
      [](const void* address, unsigned size, unsigned alignment, Access kind, const void* pc) {
        running->check_alignment(address, alignment, pc);
        running->on_access(static_cast<const char*>(address), size, kind, pc);
      },
      [](const char* what, Site site) {
        running->fail_with({.what = what, .here = {.thread = running->current_, .site = site}});
      },
  };
  return kRuntime;
}

}  // namespace lattice::metal::simt
