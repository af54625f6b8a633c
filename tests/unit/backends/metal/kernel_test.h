#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/msl_source.h"
#include "unit/backends/metal/kernel_runner.h"
#include "unit/backends/metal/must_shapes.h"

namespace lattice::metal {

/// Runs kernels of the real MSL source, specialised for a head shape, checked, under several
/// schedules; a report of the checker fails the test.
class KernelTest : public ::testing::Test {
 protected:
  /// Runs it FIFO and under two drawn schedules; all must give the same bits. A kernel without a
  /// shape is one that does not depend on heads.
  void run(std::optional<HeadShape> shape, std::string_view kernel,
           std::vector<KernelArgument> arguments, Extent threadgroups, Extent threads);
  void run(std::string_view kernel, std::vector<KernelArgument> arguments, Extent threadgroups,
           Extent threads) {
    run(std::nullopt, kernel, std::move(arguments), threadgroups, threads);
  }

  /// Numbers in [-1, 1).
  std::vector<float> numbers(std::size_t count, float scale = 1.0f);

 private:
  std::mt19937 random_{7};
};

/// The same for each configuration of the design.
class HeadShapeTest : public KernelTest, public ::testing::WithParamInterface<HeadShape> {};

/// Fails unless |got - expected| <= tolerance everywhere.
void expect_close(const std::vector<float>& got, const std::vector<double>& expected,
                  double tolerance);

std::string shape_name(const ::testing::TestParamInfo<HeadShape>& info);

}  // namespace lattice::metal
