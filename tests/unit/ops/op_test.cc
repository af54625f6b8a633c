#include "unit/ops/op_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "unit/ops/test_backends.h"

namespace lattice {
namespace {

constexpr float kUntouched = -12345.678f;

}  // namespace

std::vector<float> Numbers::vector(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = next();
  return values;
}

Grid::Grid(std::int64_t rows, std::int64_t cols, std::int64_t gap)
    : rows_(rows),
      cols_(cols),
      gap_(gap),
      buffer_(static_cast<std::size_t>(rows * (cols + gap) + 2 * kMargin), kUntouched) {}

Grid::Grid(std::int64_t rows, std::int64_t cols, Numbers& numbers, std::int64_t gap)
    : Grid(rows, cols, gap) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (float& value : view().row_span(r)) value = numbers.next();
  }
}

Grid Grid::select(const std::vector<std::int64_t>& order) const {
  Grid chosen(static_cast<std::int64_t>(order.size()), cols_, gap_ + 2);
  for (std::size_t r = 0; r < order.size(); ++r) {
    const auto from = view().row_span(order[r]);
    std::copy(from.begin(), from.end(), chosen.view().row(static_cast<std::int64_t>(r)));
  }
  return chosen;
}

void Grid::expect_margins_untouched() const {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(buffer_.size()); ++i) {
    const std::int64_t offset = i - kMargin;
    const bool is_inside =
        offset >= 0 && offset < rows_ * (cols_ + gap_) && offset % (cols_ + gap_) < cols_;
    if (is_inside) continue;
    ASSERT_EQ(buffer_[static_cast<std::size_t>(i)], kUntouched) << "written at offset " << offset;
  }
}

void expect_near(const Grid& got, const Grid& expected, double tolerance) {
  ASSERT_EQ(got.rows(), expected.rows());
  ASSERT_EQ(got.cols(), expected.cols());
  for (std::int64_t r = 0; r < got.rows(); ++r) {
    for (std::int64_t c = 0; c < got.cols(); ++c) {
      const auto a = static_cast<double>(got.at(r, c));
      const auto b = static_cast<double>(expected.at(r, c));
      if (std::isnan(b)) {
        ASSERT_TRUE(std::isnan(a)) << "row " << r << " column " << c << ": got " << a;
      } else if (a != b) {
        ASSERT_LE(std::abs(a - b), tolerance)
            << "row " << r << " column " << c << ": got " << a << ", expected " << b;
      }
    }
  }
}

void expect_same_bits(const Grid& got, std::int64_t got_row, const Grid& expected,
                      std::int64_t expected_row) {
  ASSERT_EQ(got.cols(), expected.cols());
  for (std::int64_t c = 0; c < got.cols(); ++c) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got.at(got_row, c)),
              std::bit_cast<std::uint32_t>(expected.at(expected_row, c)))
        << "row " << got_row << " column " << c << ": got " << got.at(got_row, c) << ", expected "
        << expected.at(expected_row, c);
  }
}

std::vector<std::int64_t> shuffled(std::int64_t count, Numbers& numbers) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(i)))]);
  }
  return order;
}

std::unique_ptr<Context> make_context(std::string_view backend, std::size_t num_threads) {
  auto made = make_test_backend(backend);
  if (!made) return nullptr;
  return std::make_unique<Context>(std::move(*made), std::make_shared<ThreadPool>(num_threads));
}

void OpTest::SetUp() {
  if (auto made = make_test_backend(GetParam()); !made) {
    ASSERT_EQ(made.error().code, ErrorCode::kUnavailable) << made.error().message;
    GTEST_SKIP() << "hardware: " << made.error().message;
  }
  context_ = make_context(GetParam(), 2);
  reference_ = make_context("reference", 1);
}

std::vector<std::string> all_backends() {
  std::vector<std::string> names;
  for (const std::string_view name : test_backend_names()) names.emplace_back(name);
  return names;
}

std::string backend_test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace lattice
