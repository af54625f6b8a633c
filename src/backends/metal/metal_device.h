#pragma once

#include <memory>

#include "backends/metal/device.h"
#include "base/result.h"

namespace lattice::metal {

/// The system's GPU, through Metal.framework. Errors: kUnavailable, saying why: there is none, or
/// it lacks what the kernels need, which are matrices of SIMD groups (GPU family Apple7: M1 and
/// later) and bfloat (Metal 3.1: macOS 14 and later). Only in builds for macOS with LATTICE_METAL.
Result<std::shared_ptr<Device>> make_metal_device();

}  // namespace lattice::metal
