#pragma once

// Scalar types, as_type, and the way to the host.

using half = _Float16;
using bfloat = __bf16;
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using size_t = unsigned long;
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;

namespace simt {

using lattice::metal::simt::Access;
using lattice::metal::simt::Binding;
using lattice::metal::simt::Exchange;
using lattice::metal::simt::Invocation;
using lattice::metal::simt::KernelRow;
using lattice::metal::simt::kFenceDevice;
using lattice::metal::simt::kFenceThreadgroup;
using lattice::metal::simt::Module;
using lattice::metal::simt::Request;
using lattice::metal::simt::Runtime;
using lattice::metal::simt::Site;
using lattice::metal::simt::ThreadgroupArray;

static const Runtime* runtime = nullptr;

/// Where the call is whose default argument this is.
constexpr Site here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                    unsigned column = __builtin_COLUMN()) {
  return {file, line, column};
}

template <typename A, typename B>
struct same_type {
  static constexpr bool value = false;
};
template <typename A>
struct same_type<A, A> {
  static constexpr bool value = true;
};

/// Element type and count of a scalar or vector.
template <typename T>
struct shape_of {
  using element = T;
  static constexpr int count = 1;
};
template <typename T, int N>
struct shape_of<T __attribute__((ext_vector_type(N)))> {
  using element = T;
  static constexpr int count = N;
};

/// Lane `i` of a scalar or vector.
template <typename T>
constexpr auto element(const T& value, [[maybe_unused]] int i) {
  if constexpr (shape_of<T>::count == 1) {
    return value;
  } else {
    return value[i];
  }
}

}  // namespace simt

namespace metal {

template <typename To, typename From>
inline To as_type(From value) {
  static_assert(sizeof(To) == sizeof(From), "as_type needs equal sizes");
  return __builtin_bit_cast(To, value);
}

}  // namespace metal
