#include "backends/metal/simt/simt_commands.h"

#include <cstring>

#include "backends/metal/simt/report.h"
#include "base/check.h"

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::uint32_t kMaxBufferIndex = 31;

// One dispatch at a time: threadgroup memory is static in each library.
std::mutex& execution_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

void SimtCommands::set_pipeline(const Pipeline& pipeline) {
  next_.pipeline = dynamic_cast<const SimtPipeline*>(&pipeline);
  check(next_.pipeline != nullptr, "[simt] a pipeline of another device");
}

void SimtCommands::set_buffer(std::uint32_t index, Buffer& buffer, std::size_t offset) {
  auto* own = dynamic_cast<SimtBuffer*>(&buffer);
  check(own != nullptr && index < kMaxBufferIndex, "[simt] buffer {} is of another device", index);
  next_.bindings[index] = {.buffer = own, .offset = offset, .bytes = nullptr};
}

void SimtCommands::set_bytes(std::uint32_t index, std::span<const std::byte> bytes) {
  check(bytes.size() <= kMaxBytes && index < kMaxBufferIndex,
        "[simt] {} bytes for buffer {}, at most {}", bytes.size(), index, kMaxBytes);
  auto copy = std::make_shared<GuardedMemory>(bytes.size());
  std::memcpy(copy->bytes().data(), bytes.data(), bytes.size());
  next_.bindings[index] = {.buffer = nullptr, .offset = 0, .bytes = std::move(copy)};
}

void SimtCommands::dispatch(Extent threadgroups, Extent threads_per_threadgroup) {
  next_.threadgroups = threadgroups;
  next_.threads = threads_per_threadgroup;
  dispatches_.push_back(next_);
}

Result<void> SimtCommands::commit_and_wait() {
  const std::lock_guard lock(execution_mutex());
  const std::vector<Dispatch> dispatches = std::exchange(dispatches_, {});
  for (const Dispatch& dispatch : dispatches) {
    if (auto limits = check_limits(dispatch); !limits) return limits;
    if (auto bindings = check_bindings(dispatch); !bindings) return bindings;
    if (auto done = run(dispatch); !done) return done;
  }
  return {};
}

Result<void> SimtCommands::check_limits(const Dispatch& dispatch) const {
  if (dispatch.pipeline == nullptr) return fail(ErrorCode::kInternal, "[simt] no pipeline set");
  const std::uint64_t threads = dispatch.threads.volume();
  const std::uint32_t limit = dispatch.pipeline->max_threads_per_threadgroup();
  if (threads == 0 || threads > limit) {
    return fail(ErrorCode::kInternal, "[simt] kernel {}: {} threads in a threadgroup, 1 to {}",
                dispatch.pipeline->name(), threads, limit);
  }
  if (dispatch.threadgroups.volume() == 0) {
    return fail(ErrorCode::kInternal, "[simt] kernel {}: a grid without threadgroups",
                dispatch.pipeline->name());
  }
  return {};
}

Result<void> SimtCommands::check_bindings(const Dispatch& dispatch) const {
  const KernelRow& kernel = dispatch.pipeline->kernel();
  for (unsigned i = 0; i < kernel.num_bindings; ++i) {
    const Binding& binding = kernel.bindings[i];
    const auto found = dispatch.bindings.find(binding.index);
    if (found == dispatch.bindings.end()) {
      return fail(ErrorCode::kInternal, "[simt] kernel {}: nothing bound to {} [[buffer({})]]",
                  kernel.name, binding.name, binding.index);
    }
    const Bound& bound = found->second;
    const std::size_t bytes =
        bound.bytes ? bound.bytes->bytes().size() : bound.buffer->num_bytes() - bound.offset;
    if (bound.buffer != nullptr && bound.offset > bound.buffer->num_bytes()) {
      return fail(ErrorCode::kInternal, "[simt] kernel {}: {} begins beyond its buffer",
                  kernel.name, binding.name);
    }
    if (bytes < binding.value_bytes ||
        (bound.bytes && binding.value_bytes != 0 && bytes != binding.value_bytes)) {
      return fail(ErrorCode::kInternal, "[simt] kernel {}: {} is {} bytes, got {}", kernel.name,
                  binding.name, binding.value_bytes, bytes);
    }
    if (bound.bytes && !binding.is_read_only) {
      return fail(ErrorCode::kInternal, "[simt] kernel {}: {} may be written to, got a constant",
                  kernel.name, binding.name);
    }
    if (bound.buffer != nullptr && bound.buffer->is_read_only() && !binding.is_read_only) {
      return fail(ErrorCode::kInternal,
                  "[simt] kernel {}: {} may be written to, got wrapped memory", kernel.name,
                  binding.name);
    }
  }
  return {};
}

std::vector<Region> SimtCommands::regions_of(const Dispatch& dispatch) const {
  std::vector<Region> regions = dispatch.pipeline->threadgroup_regions();
  const KernelRow& kernel = dispatch.pipeline->kernel();
  std::map<const std::byte*, std::size_t> known;  // a buffer that is bound twice is one region
  for (unsigned i = 0; i < kernel.num_bindings; ++i) {
    const Binding& binding = kernel.bindings[i];
    const Bound& bound = dispatch.bindings.at(binding.index);
    const auto bytes = bound.memory();
    const auto [place, is_new] = known.try_emplace(bytes.data(), regions.size());
    if (is_new) {
      regions.push_back({.begin = static_cast<const char*>(static_cast<const void*>(bytes.data())),
                         .num_bytes = bytes.size(),
                         .name = binding.name,
                         .space = Space::kDevice,
                         .is_read_only = true});
    }
    if (binding.is_read_only) continue;
    Region& region = regions[place->second];
    region.is_read_only = false;
    region.shadow = &bound.buffer->shadow();
  }
  return regions;
}

Result<void> SimtCommands::run(const Dispatch& dispatch) {
  const SimtPipeline& pipeline = *dispatch.pipeline;
  const std::vector<Region> regions = checked_ ? regions_of(dispatch) : std::vector<Region>();
  std::array<void*, kMaxBufferIndex> buffers = {};
  for (const auto& [index, bound] : dispatch.bindings) {
    // Kernels get every buffer as void*; what is read-only was checked to be bound to a const
    // pointer.
    buffers[index] = const_cast<std::byte*>(bound.memory().data() + bound.offset);
  }
  const Module& module = pipeline.module().module();
  *module.runtime = &Executor::runtime();
  Extent threadgroup;
  const auto fault = executor_.run({.kernel = &pipeline.kernel(),
                                    .buffers = buffers.data(),
                                    .threadgroups = dispatch.threadgroups,
                                    .threads = dispatch.threads,
                                    .regions = regions,
                                    .module = &module},
                                   &threadgroup);
  if (!fault) return {};
  return tl::make_unexpected(
      Error{ErrorCode::kInternal,
            describe_fault(*fault, pipeline.name(), threadgroup, pipeline.module())});
}

}  // namespace lattice::metal::simt
