#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/gpu_failure.h"
#include "base/result.h"
#include "ops/backend.h"

namespace lattice {

/// One backend that is built into the program.
struct BackendRow {
  std::string_view name;
  /// Whether it needs a device of its own, so that the CPU takes over where it cannot work.
  bool is_gpu = false;
  /// Errors: kUnavailable, with the reason.
  Result<std::shared_ptr<const Backend>> (*make)() = nullptr;
};

/// The backends built into this library, best first.
std::span<const BackendRow> backend_rows();

/// The row called `name`. Errors: kUnavailable, listing the known names.
Result<BackendRow> find_backend(std::string_view name, std::span<const BackendRow> rows);

/// The backend called `name`. Errors: those of find_backend() and of the row.
Result<std::shared_ptr<const Backend>> make_backend(
    std::string_view name, std::span<const BackendRow> rows = backend_rows());

/// A GPU's backend with the CPU's of `rows` behind it: see FallbackBackend. Throws LatticeError
/// when there is no CPU backend.
std::shared_ptr<const Backend> with_cpu_behind(std::shared_ptr<const Backend> gpu,
                                               OnGpuFailure on_failure,
                                               std::span<const BackendRow> rows);

/// The names of the backends built into this library, best first.
std::vector<std::string_view> backend_names();

}  // namespace lattice
