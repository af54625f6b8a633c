#include "engine/device.h"

#include <cstdlib>

#include "base/log.h"
#include "base/result.h"

namespace lattice {
namespace {

bool gpu_refused() {
  const char* value = std::getenv("LATTICE_NO_GPU");
  return value != nullptr && *value != '\0';
}

// The backend of a row for a model with `heads`, a GPU's with the CPU behind it.
Result<std::shared_ptr<const Backend>> make_for(const BackendRow& row, const HeadShape& heads,
                                                OnGpuFailure on_failure,
                                                std::span<const BackendRow> rows) {
  auto backend = row.make();
  if (!backend) return backend;
  if (const auto supported = (*backend)->supports(heads); !supported) {
    return tl::make_unexpected(supported.error());
  }
  return row.is_gpu ? with_cpu_behind(*std::move(backend), on_failure, rows) : *std::move(backend);
}

DeviceChoice choose_best(const HeadShape& heads, std::span<const BackendRow> rows) {
  std::string passed_over;
  for (const BackendRow& row : rows) {
    if (row.is_gpu && gpu_refused()) {
      passed_over = "LATTICE_NO_GPU is set";
      continue;
    }
    auto backend = make_for(row, heads, OnGpuFailure::kUseCpu, rows);
    if (backend) {
      return {*std::move(backend),
              passed_over.empty() ? "the best device of this build" : passed_over};
    }
    if (!row.is_gpu) raise(backend.error().code, "{}", backend.error().message);
    passed_over = fmt::format("{}: {}", row.name, backend.error().message);
    log_warning("device {}", passed_over);
  }
  raise(ErrorCode::kUnavailable, "this library was built without devices");
}

}  // namespace

DeviceChoice choose_device(const std::string& device, const HeadShape& heads,
                           std::span<const BackendRow> rows) {
  if (device == "auto") return choose_best(heads, rows);
  const BackendRow row = value_or_throw(find_backend(device, rows));
  return {value_or_throw(make_for(row, heads, OnGpuFailure::kThrow, rows)), "named by the caller"};
}

WeightFormat choose_weight_format(const std::string& dtype, StoredQuantization stored) {
  if (dtype == "auto") {
    return stored == StoredQuantization::kQ8_0 ? WeightFormat::kQ8_0 : WeightFormat::kF32;
  }
  if (dtype == "f32") return WeightFormat::kF32;
  if (dtype == "bf16") return WeightFormat::kBF16;
  if (dtype == "q8_0") return WeightFormat::kQ8_0;
  raise(ErrorCode::kUnsupported, "dtype: expected auto, f32, bf16 or q8_0, got \"{}\"", dtype);
}

}  // namespace lattice
