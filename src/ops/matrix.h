#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace lattice {

/// A non-owning row-major matrix [rows, cols]; row r starts at data + r * stride (stride >= cols).
template <typename T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  MatrixView() = default;
  MatrixView(T* data_in, std::int64_t rows_in, std::int64_t cols_in, std::int64_t stride_in)
      : data(data_in), rows(rows_in), cols(cols_in), stride(stride_in) {}
  MatrixView(T* data_in, std::int64_t rows_in, std::int64_t cols_in)
      : MatrixView(data_in, rows_in, cols_in, cols_in) {}
  /// A mutable view is also a const view.
  template <typename U>
    requires(std::is_const_v<T> && std::is_same_v<U, std::remove_const_t<T>>)
  MatrixView(const MatrixView<U>& other)
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  T* row(std::int64_t r) const { return data + r * stride; }
  std::span<T> row_span(std::int64_t r) const { return {row(r), static_cast<std::size_t>(cols)}; }
  /// Rows [begin, end).
  MatrixView rows_between(std::int64_t begin, std::int64_t end) const {
    return MatrixView(row(begin), end - begin, cols, stride);
  }
  /// Columns [begin, begin + count) of every row.
  MatrixView columns(std::int64_t begin, std::int64_t count) const {
    return MatrixView(data + begin, rows, count, stride);
  }
};

using ConstMatrix = MatrixView<const float>;
using MutMatrix = MatrixView<float>;

}  // namespace lattice
