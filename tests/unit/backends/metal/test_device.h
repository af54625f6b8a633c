#pragma once

#include <memory>

#include "backends/metal/device.h"

namespace lattice::metal {

/// The device that the tests of the interface run on, by what the program is linked from: the one
/// that executes kernels on the CPU, or the GPU of a Mac.
Result<std::shared_ptr<Device>> make_test_device();

}  // namespace lattice::metal
