#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "unit/backends/metal/kernel_runner.h"

namespace lattice::metal {

/// A kernel `k` with a fault, and what the report must say. The body sees x (256 floats, read
/// only), out (256 floats), tid, lane, sg and group; it begins in line 5 of test.metal.
struct PlantedFault {
  std::string name;
  std::string body;
  std::vector<std::string> reported = {};
  Extent threadgroups = {1};
  Extent threads = {128};
  std::string helpers = {};  ///< functions before the kernel, on one line
};

/// Names the fault in failures of its test.
inline void PrintTo(const PlantedFault& fault, std::ostream* out) { *out << fault.name; }

/// The whole source of a kernel with this body.
std::string fault_source(const PlantedFault& fault);

/// Fails unless executing the kernel ends with a report that has every part, and the line; the
/// schedule must not matter.
void expect_caught(const PlantedFault& fault);

/// Fails if the kernel is flagged.
void expect_clean(const PlantedFault& fault);

}  // namespace lattice::metal

/// Instantiates one test per planted fault.
#define LATTICE_PLANTED_FAULTS(Suite, faults)                                       \
  class Suite : public ::testing::TestWithParam<PlantedFault> {};                   \
  INSTANTIATE_TEST_SUITE_P(Planted, Suite, ::testing::ValuesIn(faults),             \
                           [](const auto& planted) { return planted.param.name; }); \
  TEST_P(Suite, IsCaught) { expect_caught(GetParam()); }
