#pragma once

// Elementwise functions. Arguments must have one type: max(float, int) is ambiguous, as in MSL.

#define SIMT_UNARY(name, builtin)                                 \
  inline float name(float x) { return builtin##f(x); }            \
  inline half name(half x) { return half(builtin##f(float(x))); } \
  template <typename T, int N>                                    \
  inline vec<T, N> name(vec<T, N> x) {                            \
    for (int i = 0; i < N; ++i) x[i] = name(T(x[i]));             \
    return x;                                                     \
  }

#define SIMT_BINARY_OF(type, name, expression) \
  inline type name(type x, type y) { return expression; }
#define SIMT_BINARY_VECTOR(name)                               \
  template <typename T, int N>                                 \
  inline vec<T, N> name(vec<T, N> x, vec<T, N> y) {            \
    for (int i = 0; i < N; ++i) x[i] = name(T(x[i]), T(y[i])); \
    return x;                                                  \
  }                                                            \
  template <typename T, int N>                                 \
  inline vec<T, N> name(vec<T, N> x, T y) {                    \
    for (int i = 0; i < N; ++i) x[i] = name(T(x[i]), y);       \
    return x;                                                  \
  }
#define SIMT_BINARY_INTEGERS(name, expression) \
  SIMT_BINARY_OF(int, name, expression)        \
  SIMT_BINARY_OF(uint, name, expression)       \
  SIMT_BINARY_OF(short, name, expression)      \
  SIMT_BINARY_OF(ushort, name, expression)     \
  SIMT_BINARY_OF(long, name, expression)       \
  SIMT_BINARY_OF(ulong, name, expression)

namespace metal {

#define SIMT_TRANSCENDENTAL                                         \
  SIMT_UNARY(exp, __builtin_exp)                                    \
  SIMT_UNARY(exp2, __builtin_exp2)                                  \
  SIMT_UNARY(log, __builtin_log)                                    \
  SIMT_UNARY(log2, __builtin_log2)                                  \
  SIMT_UNARY(sqrt, __builtin_sqrt)                                  \
  SIMT_UNARY(sin, __builtin_sin)                                    \
  SIMT_UNARY(cos, __builtin_cos)                                    \
  SIMT_UNARY(tanh, __builtin_tanh)                                  \
  inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); } \
  inline float pow(float x, float y) { return __builtin_powf(x, y); }

// precise:: and fast:: have names of their own in MSL; here both are the precise ones.
namespace precise {
SIMT_TRANSCENDENTAL
}
namespace fast {
SIMT_TRANSCENDENTAL
}
using namespace precise;

SIMT_UNARY(fabs, __builtin_fabs)
SIMT_UNARY(floor, __builtin_floor)
SIMT_UNARY(ceil, __builtin_ceil)
SIMT_UNARY(trunc, __builtin_trunc)
SIMT_UNARY(rint, __builtin_rint)
SIMT_UNARY(round, __builtin_round)

inline float abs(float x) { return __builtin_fabsf(x); }
inline half abs(half x) { return x < half(0) ? -x : x; }
inline int abs(int x) { return x < 0 ? -x : x; }
template <typename T, int N>
inline vec<T, N> abs(vec<T, N> x) {
  for (int i = 0; i < N; ++i) x[i] = abs(T(x[i]));
  return x;
}

SIMT_BINARY_OF(float, max, __builtin_fmaxf(x, y))
SIMT_BINARY_OF(float, min, __builtin_fminf(x, y))
SIMT_BINARY_OF(half, max, x > y ? x : y)
SIMT_BINARY_OF(half, min, x < y ? x : y)
SIMT_BINARY_INTEGERS(max, x > y ? x : y)
SIMT_BINARY_INTEGERS(min, x < y ? x : y)
SIMT_BINARY_VECTOR(max)
SIMT_BINARY_VECTOR(min)

template <typename T>
inline T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
template <typename T, int N>
inline vec<T, N> fma(vec<T, N> a, vec<T, N> b, vec<T, N> c) {
  for (int i = 0; i < N; ++i) a[i] = T(__builtin_fmaf(float(a[i]), float(b[i]), float(c[i])));
  return a;
}
inline float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }
inline float copysign(float x, float y) { return __builtin_copysignf(x, y); }

template <typename T>
inline T mix(T x, T y, T a) {
  return x + (y - x) * a;
}
template <typename T>
inline T select(T if_false, T if_true, bool condition) {
  return condition ? if_true : if_false;
}

template <typename T, int N>
inline T dot(vec<T, N> x, vec<T, N> y) {
  T sum = x[0] * y[0];
  for (int i = 1; i < N; ++i) sum += x[i] * y[i];
  return sum;
}
template <int N>
inline float length(vec<float, N> x) {
  return sqrt(dot(x, x));
}

inline uint popcount(uint x) { return uint(__builtin_popcount(x)); }
inline uint clz(uint x) { return x == 0 ? 32 : uint(__builtin_clz(x)); }

}  // namespace metal
