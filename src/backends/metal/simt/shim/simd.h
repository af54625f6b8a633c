#pragma once

// Barriers and operations of a SIMD group. Each arrival carries its place in the source, by which
// the host sees whether all threads arrived at the same one.

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }

}  // namespace metal

namespace simt {

constexpr unsigned fence_of(metal::mem_flags flags) {
  const unsigned bits = unsigned(flags);
  return (bits & 2u ? kFenceThreadgroup : 0u) | (bits & 1u ? kFenceDevice : 0u);
}

/// What MSL's SIMD functions take: no bool, no bfloat.
template <typename T>
constexpr bool is_simd_type() {
  using E = typename shape_of<T>::element;
  return same_type<E, float>::value || same_type<E, half>::value || same_type<E, int>::value ||
         same_type<E, uint>::value || same_type<E, short>::value || same_type<E, ushort>::value ||
         same_type<E, signed char>::value || same_type<E, uchar>::value;
}

template <typename T>
inline T exchange(const char* name, Site site, Exchange kind, T value, unsigned long long argument,
                  void (*combine)(const Request* const*, unsigned) = nullptr) {
  static_assert(is_simd_type<T>(), "SIMD functions take neither bool nor bfloat");
  T result = value;
  const Request request{name, site, kind, sizeof(T), &value, &result, argument, combine, 0};
  runtime->collective(request);
  return result;
}

template <typename T>
inline T input(const Request* request) {
  return *static_cast<const T*>(request->in);
}

/// Every lane gets the fold of all, pairwise as in a butterfly.
template <typename T, typename Fold>
inline void reduce(const Request* const* lanes, unsigned count) {
  T values[32];
  for (unsigned i = 0; i < count; ++i) values[i] = input<T>(lanes[i]);
  for (unsigned width = 1; width < count; width *= 2) {
    for (unsigned i = 0; i + width < count; i += 2 * width) {
      values[i] = Fold::apply(values[i], values[i + width]);
    }
  }
  for (unsigned i = 0; i < count; ++i) *static_cast<T*>(lanes[i]->out) = values[0];
}

/// Lane i gets the sum of the lanes up to it, itself included or not.
template <typename T, bool kInclusive>
inline void prefix_sum(const Request* const* lanes, unsigned count) {
  T sum = T(0);
  for (unsigned i = 0; i < count; ++i) {
    const T next = sum + input<T>(lanes[i]);
    *static_cast<T*>(lanes[i]->out) = kInclusive ? next : sum;
    sum = next;
  }
}

#define SIMT_FOLD(Name, expression) \
  struct Name {                     \
    template <typename T>           \
    static T apply(T a, T b) {      \
      return expression;            \
    }                               \
  };
SIMT_FOLD(Sum, a + b)
SIMT_FOLD(Product, a* b)
SIMT_FOLD(Max, metal::max(a, b))
SIMT_FOLD(Min, metal::min(a, b))
SIMT_FOLD(And, a& b)
SIMT_FOLD(Or, a | b)
#undef SIMT_FOLD

}  // namespace simt

namespace metal {

inline void threadgroup_barrier(mem_flags flags, simt::Site site = simt::here()) {
  simt::runtime->barrier({"threadgroup_barrier", site, simt::Exchange::kNone, 0, nullptr, nullptr,
                          uint(flags), nullptr, simt::fence_of(flags)});
}

inline void simdgroup_barrier(mem_flags flags, simt::Site site = simt::here()) {
  simt::runtime->collective({"simdgroup_barrier", site, simt::Exchange::kNone, 0, nullptr, nullptr,
                             uint(flags), nullptr, simt::fence_of(flags)});
}

#define SIMT_REDUCE(name, Fold)                                            \
  template <typename T>                                                    \
  inline T name(T value, simt::Site site = simt::here()) {                 \
    return simt::exchange(#name, site, simt::Exchange::kCombine, value, 0, \
                          &simt::reduce<T, simt::Fold>);                   \
  }
SIMT_REDUCE(simd_sum, Sum)
SIMT_REDUCE(simd_product, Product)
SIMT_REDUCE(simd_max, Max)
SIMT_REDUCE(simd_min, Min)
SIMT_REDUCE(simd_and, And)
SIMT_REDUCE(simd_or, Or)
#undef SIMT_REDUCE

inline bool simd_all(bool value, simt::Site site = simt::here()) {
  return simt::exchange("simd_all", site, simt::Exchange::kCombine, uint(value), 0,
                        &simt::reduce<uint, simt::And>) != 0;
}
inline bool simd_any(bool value, simt::Site site = simt::here()) {
  return simt::exchange("simd_any", site, simt::Exchange::kCombine, uint(value), 0,
                        &simt::reduce<uint, simt::Or>) != 0;
}

template <typename T>
inline T simd_prefix_inclusive_sum(T value, simt::Site site = simt::here()) {
  return simt::exchange("simd_prefix_inclusive_sum", site, simt::Exchange::kCombine, value, 0,
                        &simt::prefix_sum<T, true>);
}
template <typename T>
inline T simd_prefix_exclusive_sum(T value, simt::Site site = simt::here()) {
  return simt::exchange("simd_prefix_exclusive_sum", site, simt::Exchange::kCombine, value, 0,
                        &simt::prefix_sum<T, false>);
}

#define SIMT_SHUFFLE(name, kind)                                               \
  template <typename T>                                                        \
  inline T name(T value, ushort argument, simt::Site site = simt::here()) {    \
    return simt::exchange(#name, site, simt::Exchange::kind, value, argument); \
  }
SIMT_SHUFFLE(simd_shuffle, kShuffle)
SIMT_SHUFFLE(simd_shuffle_up, kUp)
SIMT_SHUFFLE(simd_shuffle_down, kDown)
SIMT_SHUFFLE(simd_shuffle_xor, kXor)
SIMT_SHUFFLE(simd_broadcast, kBroadcast)
#undef SIMT_SHUFFLE

template <typename T>
inline T simd_broadcast_first(T value, simt::Site site = simt::here()) {
  return simt::exchange("simd_broadcast_first", site, simt::Exchange::kBroadcast, value, 0);
}

}  // namespace metal
