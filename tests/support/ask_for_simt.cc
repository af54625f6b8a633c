// Linked into a test program with metal_registry.cc, this sets the variable that asks for the
// executed kernels, also when the tests are only listed. LATTICE_METAL_SIMT=0 outside still refuses
// them.
#include <cstdlib>

namespace {

[[maybe_unused]] const int kAsked = ::setenv("LATTICE_METAL_SIMT", "1", /*overwrite=*/0);

}  // namespace
