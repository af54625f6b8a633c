#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ops.h"

namespace lattice {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// Seeded numbers; the same on every platform, which std::uniform_real_distribution is not.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : engine_(seed) {}
  /// In [-1, 1).
  float next() { return static_cast<float>(engine_()) * 0x1p-31f - 1.0f; }
  /// In [0, bound).
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(engine_() % static_cast<std::uint32_t>(bound));
  }
  std::vector<float> vector(std::int64_t size);

 private:
  std::mt19937 engine_;
};

/// A matrix inside a larger buffer, with an odd stride and a start that is aligned to nothing but
/// float. Whatever lies between and around the rows must stay as it is.
class Grid {
 public:
  Grid(std::int64_t rows, std::int64_t cols, std::int64_t gap = 3);
  /// Filled with numbers in [-1, 1).
  Grid(std::int64_t rows, std::int64_t cols, Numbers& numbers, std::int64_t gap = 3);

  MutMatrix view() { return {buffer_.data() + kMargin, rows_, cols_, cols_ + gap_}; }
  ConstMatrix view() const { return {buffer_.data() + kMargin, rows_, cols_, cols_ + gap_}; }
  float& at(std::int64_t row, std::int64_t col) { return view().row(row)[col]; }
  float at(std::int64_t row, std::int64_t col) const { return view().row(row)[col]; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  /// The rows that `order` names, in that order, in a grid of their own.
  Grid select(const std::vector<std::int64_t>& order) const;
  /// Fails the test if anything outside the rows was written.
  void expect_margins_untouched() const;

 private:
  static constexpr std::int64_t kMargin = 5;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t gap_;
  std::vector<float> buffer_;
};

/// Fails unless each value is within `tolerance` of the expected one; NaN equals NaN and infinities
/// equal themselves.
void expect_near(const Grid& got, const Grid& expected, double tolerance);

/// Fails unless row `got_row` of `got` has the bits of row `expected_row` of `expected`.
void expect_same_bits(const Grid& got, std::int64_t got_row, const Grid& expected,
                      std::int64_t expected_row);

/// A permutation of 0..count-1.
std::vector<std::int64_t> shuffled(std::int64_t count, Numbers& numbers);

/// A backend by name with its own threads. `context` is null, and the test skipped, when the CPU
/// target forced by the environment needs hardware that is absent.
std::unique_ptr<Context> make_context(std::string_view backend, std::size_t num_threads);

/// The body of every op test, run on every backend.
class OpTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  Context& context() { return *context_; }
  Context& reference() { return *reference_; }
  /// Whether the backend takes heads of `head_dim`: GPU kernels need a multiple of 4.
  bool has_heads_of(std::int64_t head_dim) { return !is_gpu() || head_dim % 4 == 0; }
  /// Whether it selects kernels by the number of rows, so that a row's bits depend on it.
  bool is_gpu() { return context_->backend().name() == "metal"; }

 private:
  std::unique_ptr<Context> context_;
  std::unique_ptr<Context> reference_;
};

/// Names for INSTANTIATE_TEST_SUITE_P.
std::vector<std::string> all_backends();
std::string backend_test_name(const ::testing::TestParamInfo<std::string>& info);

}  // namespace lattice

/// Instantiates a suite of op tests for every backend.
#define LATTICE_FOR_EACH_BACKEND(Suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(Backends, Suite, ::testing::ValuesIn(::lattice::all_backends()), \
                           ::lattice::backend_test_name)
