#include "engine/device.h"

#include <cstdlib>

#include "backends/registry.h"
#include "base/result.h"

namespace lattice {

DeviceChoice choose_device(const std::string& device) {
  if (device != "auto") {
    return {value_or_throw(make_backend(device)), "named by the caller"};
  }
  // A GPU backend of a later build comes first in the list; LATTICE_NO_GPU then skips it.
  const char* no_gpu = std::getenv("LATTICE_NO_GPU");
  const bool gpu_refused = no_gpu != nullptr && *no_gpu != '\0';
  return {value_or_throw(make_backend(backend_names().front())),
          gpu_refused ? "LATTICE_NO_GPU is set" : "the best device of this build"};
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
