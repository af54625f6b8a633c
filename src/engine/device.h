#pragma once

#include <memory>
#include <string>

#include "io/quantization_config.h"
#include "ops/backend.h"

namespace lattice {

/// The backend that will run a model, and why.
struct DeviceChoice {
  std::shared_ptr<const Backend> backend;
  std::string reason;
};

/// Resolves ModelOptions::device. "auto" takes the first available device of this build; a device
/// named explicitly and not available throws kUnavailable, never falls back.
DeviceChoice choose_device(const std::string& device);

/// Resolves ModelOptions::dtype for weights stored as `stored`: "auto" multiplies Q8_0 weights in
/// Q8_0, others in f32. Throws kUnsupported naming the accepted values.
WeightFormat choose_weight_format(const std::string& dtype, StoredQuantization stored);

}  // namespace lattice
