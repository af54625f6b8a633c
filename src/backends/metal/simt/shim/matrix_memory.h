#pragma once

// Loads and stores of 8 x 8 matrices. Each lane moves its own two elements, in code that is
// instrumented like a kernel's own.

namespace metal {

template <typename T>
inline __attribute__((always_inline)) void simdgroup_load(
    simdgroup_matrix<T, 8, 8>& matrix, const T* source, ulong elements_per_row = 8,
    ulong2 origin = ulong2(0), bool transpose = false, simt::Site site = simt::here()) {
  const T* start = source + origin.y * elements_per_row + origin.x;
  const uint lane = simt::meet("simdgroup_load", site,
                               ulong(start) * 2 + elements_per_row * 64 + (transpose ? 1 : 0));
  for (uint e = 0; e < 2; ++e) {
    const ulong row = simt::matrix_row(lane), column = simt::matrix_column(lane) + e;
    matrix.elements[e] =
        transpose ? start[column * elements_per_row + row] : start[row * elements_per_row + column];
  }
}

template <typename T>
inline __attribute__((always_inline)) void simdgroup_store(const simdgroup_matrix<T, 8, 8>& matrix,
                                                           T* target, ulong elements_per_row = 8,
                                                           ulong2 origin = ulong2(0),
                                                           bool transpose = false,
                                                           simt::Site site = simt::here()) {
  T* start = target + origin.y * elements_per_row + origin.x;
  const uint lane = simt::meet("simdgroup_store", site,
                               ulong(start) * 2 + elements_per_row * 64 + (transpose ? 1 : 0));
  for (uint e = 0; e < 2; ++e) {
    const ulong row = simt::matrix_row(lane), column = simt::matrix_column(lane) + e;
    start[transpose ? column * elements_per_row + row : row * elements_per_row + column] =
        matrix.elements[e];
  }
}

template <typename T, int R, int C>
inline simdgroup_matrix<T, R, C>::simdgroup_matrix(T diagonal) {
  const uint lane = simt::meet("simdgroup_matrix", {"metal_stdlib", 0, 0}, 0);
  for (uint e = 0; e < 2; ++e) {
    elements[e] = simt::matrix_row(lane) == simt::matrix_column(lane) + e ? diagonal : T(0);
  }
}

}  // namespace metal
