#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/metal/simt/executor.h"
#include "backends/metal/simt/simt_objects.h"

namespace lattice::metal::simt {

/// Commands of SimtDevice. Encoding only records; commit_and_wait() checks each dispatch against
/// the kernel's signature and runs it.
class SimtCommands final : public Commands {
 public:
  SimtCommands(Executor& executor, bool checked) : executor_(executor), checked_(checked) {}

  void set_pipeline(const Pipeline& pipeline) override;
  void set_buffer(std::uint32_t index, Buffer& buffer, std::size_t offset) override;
  void set_bytes(std::uint32_t index, std::span<const std::byte> bytes) override;
  void dispatch(Extent threadgroups, Extent threads_per_threadgroup) override;
  Result<void> commit_and_wait() override;

 private:
  struct Bound {
    SimtBuffer* buffer = nullptr;
    std::size_t offset = 0;
    std::shared_ptr<GuardedMemory> bytes;  // of set_bytes

    std::span<const std::byte> memory() const { return bytes ? bytes->bytes() : buffer->bytes(); }
  };
  struct Dispatch {
    const SimtPipeline* pipeline = nullptr;
    std::map<std::uint32_t, Bound> bindings;
    Extent threadgroups;
    Extent threads;
  };

  Result<void> check_limits(const Dispatch& dispatch) const;
  Result<void> check_bindings(const Dispatch& dispatch) const;
  std::vector<Region> regions_of(const Dispatch& dispatch) const;
  Result<void> run(const Dispatch& dispatch);

  Executor& executor_;
  bool checked_;
  Dispatch next_;
  std::vector<Dispatch> dispatches_;
};

}  // namespace lattice::metal::simt
