#pragma once

#include <memory>
#include <span>
#include <string>

#include "backends/registry.h"
#include "io/quantization_config.h"
#include "ops/backend.h"

namespace lattice {

/// The backend that will run a model, and why.
struct DeviceChoice {
  std::shared_ptr<const Backend> backend;
  std::string reason;
};

/// Resolves ModelOptions::device for a model with `heads`.
///
/// "auto" takes the first of `rows` that is there and has kernels for the model; a GPU that is
/// passed over is named in the reason, and in a warning unless LATTICE_NO_GPU asked for it. A GPU
/// that fails later leaves the rest to the CPU.
///
/// A device named explicitly and not available throws kUnavailable, or kUnsupported when it has no
/// kernels for the model; its later errors are thrown as well. It never falls back.
DeviceChoice choose_device(const std::string& device, const HeadShape& heads,
                           std::span<const BackendRow> rows = backend_rows());

/// Resolves ModelOptions::dtype for weights stored as `stored`: "auto" multiplies Q8_0 weights in
/// Q8_0, others in f32. Throws kUnsupported naming the accepted values.
WeightFormat choose_weight_format(const std::string& dtype, StoredQuantization stored);

}  // namespace lattice
