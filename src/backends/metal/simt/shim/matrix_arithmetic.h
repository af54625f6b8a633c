#pragma once

// 8 x 8 matrices spread over the lanes of a SIMD group, two elements a lane.

namespace metal {

template <typename T, int R, int C>
struct simdgroup_matrix {
  static_assert(R == 8 && C == 8, "simdgroup matrices are 8 x 8");
  static_assert(simt::same_type<T, float>::value || simt::same_type<T, half>::value ||
                    simt::same_type<T, bfloat>::value,
                "simdgroup matrices hold float, half or bfloat");
  simdgroup_matrix() = default;
  /// `diagonal` on the diagonal, zeros elsewhere.
  explicit simdgroup_matrix(T diagonal);
  vec<T, 2>& thread_elements() { return elements; }

  vec<T, 2> elements;
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <typename T, int R, int C>
inline simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, R, C> result;
  result.elements = vec<T, 2>(value);
  return result;
}

}  // namespace metal

namespace simt {

/// The row of both elements of a lane, and the column of the first.
constexpr uint matrix_row(uint lane) { return (lane >> 4 & 1) * 4 + (lane >> 1 & 3); }
constexpr uint matrix_column(uint lane) { return (lane >> 3 & 1) * 4 + (lane & 1) * 2; }

inline void number_lanes(const Request* const* lanes, unsigned count) {
  if (count != 32)
    runtime->fault("a simdgroup matrix in a SIMD group of fewer than 32 threads", lanes[0]->site);
  for (unsigned i = 0; i < count; ++i) *static_cast<uint*>(lanes[i]->out) = i;
}

/// All lanes meet, with `argument` equal; gives the lane's number.
inline uint meet(const char* name, Site site, unsigned long long argument) {
  return exchange(name, site, Exchange::kCombine, uint(0), argument, &number_lanes);
}

template <typename D, typename A, typename B, typename C>
struct Operands {
  D* d;
  const A* a;
  const B* b;
  const C* c;
};

template <typename M>
inline void gather(float (&full)[8][8], const M& part, unsigned lane) {
  full[matrix_row(lane)][matrix_column(lane)] = float(part.elements[0]);
  full[matrix_row(lane)][matrix_column(lane) + 1] = float(part.elements[1]);
}

template <typename D, typename A, typename B, typename C>
inline void multiply_lanes(const Request* const* lanes, unsigned count) {
  using Row = Operands<D, A, B, C>;
  if (count != 32)
    runtime->fault("a simdgroup matrix in a SIMD group of fewer than 32 threads", lanes[0]->site);
  float a[8][8], b[8][8], c[8][8];
  for (unsigned i = 0; i < 32; ++i) {
    const Row& row = *static_cast<const Row*>(lanes[i]->in);
    gather(a, *row.a, i);
    gather(b, *row.b, i);
    gather(c, *row.c, i);
  }
  for (unsigned i = 0; i < 32; ++i) {
    const Row& row = *static_cast<const Row*>(lanes[i]->in);
    for (unsigned e = 0; e < 2; ++e) {
      float sum = c[matrix_row(i)][matrix_column(i) + e];
      for (int k = 0; k < 8; ++k) sum += a[matrix_row(i)][k] * b[k][matrix_column(i) + e];
      row.d->elements[e] = static_cast<typename shape_of<decltype(row.d->elements)>::element>(sum);
    }
  }
}

}  // namespace simt

namespace metal {

template <typename D, typename A, typename B, typename C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d,
                                          const simdgroup_matrix<A, 8, 8>& a,
                                          const simdgroup_matrix<B, 8, 8>& b,
                                          const simdgroup_matrix<C, 8, 8>& c,
                                          simt::Site site = simt::here()) {
  using Row = simt::Operands<simdgroup_matrix<D, 8, 8>, simdgroup_matrix<A, 8, 8>,
                             simdgroup_matrix<B, 8, 8>, simdgroup_matrix<C, 8, 8>>;
  const Row row{&d, &a, &b, &c};
  simt::runtime->collective(
      {"simdgroup_multiply_accumulate", site, simt::Exchange::kCombine, sizeof(Row), &row, nullptr,
       0,
       &simt::multiply_lanes<simdgroup_matrix<D, 8, 8>, simdgroup_matrix<A, 8, 8>,
                             simdgroup_matrix<B, 8, 8>, simdgroup_matrix<C, 8, 8>>,
       0});
}

}  // namespace metal
