// Without the device the other tests of this program are not even listed.
#include <gmock/gmock.h>

#include "support/usable_backends.h"

namespace lattice {
namespace {

TEST(MetalRegistry, HasTheExecutedKernels) {
  EXPECT_THAT(usable_backends(), testing::ElementsAre("metal", "cpu"));
}

}  // namespace
}  // namespace lattice
