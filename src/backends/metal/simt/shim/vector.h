#pragma once

// Vectors are clang's extended vectors: swizzles, indexing, sizes and the refusal of implicit
// conversions are as in MSL.

namespace metal {

template <typename T, int N>
using vec = T __attribute__((ext_vector_type(N)));

}  // namespace metal

namespace simt {

template <typename T, int N, typename A>
inline void append(metal::vec<T, N>& result, int& next, const A& value) {
  for (int i = 0; i < shape_of<A>::count; ++i) result[next++] = static_cast<T>(element(value, i));
}

}  // namespace simt

namespace metal {

/// float4(...): zeros, a splat, a conversion, or the parts one after another.
template <typename T, int N, typename... A>
inline vec<T, N> make(A... parts) {
  if constexpr (sizeof...(A) == 0) {
    return vec<T, N>(T(0));
  } else if constexpr (sizeof...(A) == 1) {
    constexpr int kCount = (simt::shape_of<A>::count + ...);
    static_assert(kCount == 1 || kCount == N, "a vector of another size");
    vec<T, N> result;
    for (int i = 0; i < N; ++i) {
      result[i] = static_cast<T>((simt::element(parts, kCount == 1 ? 0 : i), ...));
    }
    return result;
  } else {
    static_assert((simt::shape_of<A>::count + ...) == N, "wrong number of elements");
    vec<T, N> result;
    int next = 0;
    (simt::append<T, N>(result, next, parts), ...);
    return result;
  }
}

using float2 = vec<float, 2>;
using float3 = vec<float, 3>;
using float4 = vec<float, 4>;
using half2 = vec<half, 2>;
using half3 = vec<half, 3>;
using half4 = vec<half, 4>;
using bfloat2 = vec<bfloat, 2>;
using bfloat4 = vec<bfloat, 4>;
using int2 = vec<int, 2>;
using int3 = vec<int, 3>;
using int4 = vec<int, 4>;
using uint2 = vec<uint, 2>;
using uint3 = vec<uint, 3>;
using uint4 = vec<uint, 4>;
using ushort2 = vec<ushort, 2>;
using ushort3 = vec<ushort, 3>;
using ushort4 = vec<ushort, 4>;
using char4 = vec<signed char, 4>;
using uchar4 = vec<uchar, 4>;
using ulong2 = vec<ulong, 2>;

/// Four floats or halves at the alignment of one.
typedef float packed_float2 __attribute__((ext_vector_type(2), aligned(4)));
typedef float packed_float4 __attribute__((ext_vector_type(4), aligned(4)));
typedef half packed_half4 __attribute__((ext_vector_type(4), aligned(2)));

}  // namespace metal
