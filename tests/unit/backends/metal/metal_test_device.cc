#include "backends/metal/metal_device.h"
#include "unit/backends/metal/test_device.h"

namespace lattice::metal {

Result<std::shared_ptr<Device>> make_test_device() { return make_metal_device(); }

}  // namespace lattice::metal
