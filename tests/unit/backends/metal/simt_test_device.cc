#include "backends/metal/simt/simt_device.h"
#include "unit/backends/metal/test_device.h"

namespace lattice::metal {

Result<std::shared_ptr<Device>> make_test_device() { return std::make_shared<simt::SimtDevice>(); }

}  // namespace lattice::metal
