#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backends/metal/device.h"
#include "backends/metal/simt/executor.h"

namespace lattice::metal::simt {

struct SimtOptions {
  /// Checks every access of kernels to memory: four to eight times slower.
  bool checked = true;
  ScheduleKind schedule = ScheduleKind::kFifo;
  std::uint32_t seed = 0;
  /// CPU time after which a threadgroup that still runs is taken to have no end.
  double seconds_per_threadgroup = 60.0;
  /// Where compiled kernels are kept; empty: in the build directory.
  std::string cache_directory = {};
  /// Whether wrap_memory() wraps, as a device may or may not.
  bool wraps_memory = true;
};

/// Executes Metal kernels on a CPU: an instrument for tests, slow, and never offered to users. A
/// dispatch that breaks MSL's rules ends commit_and_wait() with kInternal and a report that names
/// kernel, thread and line. Thread-safe; dispatches of all threads of the process take turns.
///
/// A kernel is compiled alone, when its pipeline is made, which then reports what does not compile:
/// most libraries of a test run are asked for one or two of their kernels.
class SimtDevice final : public Device {
 public:
  explicit SimtDevice(SimtOptions options = {});

  std::string name() const override { return "simt"; }
  Result<std::unique_ptr<Buffer>> make_buffer(std::size_t num_bytes) override;
  std::unique_ptr<Buffer> wrap_memory(std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) override;
  Result<std::unique_ptr<Library>> compile(std::string_view source) override;
  Result<std::unique_ptr<Pipeline>> make_pipeline(const Library& library,
                                                  std::string_view name) override;
  std::unique_ptr<Commands> make_commands() override;

 private:
  SimtOptions options_;
  Executor executor_;
};

}  // namespace lattice::metal::simt
