// AVX-512 without the processor: include this before a kernels/isa_avx512*.cc, and the intrinsics
// that those files use become the plain code below. What runs is the kernel's own text: layouts,
// indices, order of operations; not the compiler's code for it. What the instructions do: Intel 64
// and IA-32 Architectures Software Developer's Manual, volume 2.
#pragma once

#include "backends/cpu/kernels/hwy_targets.h"

#include <hwy/highway.h>
#include <immintrin.h>  // before its names are taken

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/float16.h"

namespace lattice::emulated {

template <typename T, std::size_t kSize>
struct Vec {
  std::array<T, kSize> lane{};

  template <typename Function>
  static Vec from(const Function& function) {
    Vec v;
    for (std::size_t i = 0; i < kSize; ++i) v.lane[i] = function(i);
    return v;
  }
  static Vec load(const void* memory) {
    Vec v;
    std::memcpy(v.lane.data(), memory, sizeof(v.lane));
    return v;
  }
  void store(void* memory) const { std::memcpy(memory, lane.data(), sizeof(lane)); }
};

using F32x16 = Vec<float, 16>;
using I32x16 = Vec<std::int32_t, 16>;
using I32x8 = Vec<std::int32_t, 8>;
using Bf16x32 = Vec<std::uint16_t, 32>;
using Bf16x16 = Vec<std::uint16_t, 16>;

/// vpdpbusd: four unsigned bytes of a times four signed bytes of b.
inline I32x16 dpbusd(const I32x16& sum, const I32x16& a, const I32x16& b) {
  return I32x16::from([&](std::size_t i) {
    const auto x = std::bit_cast<std::array<std::uint8_t, 4>>(a.lane[i]);
    const auto w = std::bit_cast<std::array<std::int8_t, 4>>(b.lane[i]);
    std::int32_t total = sum.lane[i];
    for (std::size_t k = 0; k < 4; ++k) total += std::int32_t{x[k]} * std::int32_t{w[k]};
    return total;
  });
}

/// vdpbf16ps, but for denormal numbers: the odd products first.
inline F32x16 dpbf16(const F32x16& sum, const Bf16x32& a, const Bf16x32& b) {
  const auto value = [](std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  };
  return F32x16::from([&](std::size_t i) {
    const float odd = std::fma(value(a.lane[2 * i + 1]), value(b.lane[2 * i + 1]), sum.lane[i]);
    return std::fma(value(a.lane[2 * i]), value(b.lane[2 * i]), odd);
  });
}

inline F32x16 fmadd(const F32x16& a, const F32x16& b, const F32x16& c) {
  return F32x16::from([&](std::size_t i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
}

inline F32x16 multiply(const F32x16& a, const F32x16& b) {
  return F32x16::from([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
}

inline I32x16 subtract(const I32x16& a, const I32x16& b) {
  return I32x16::from([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
}

inline F32x16 to_float(const I32x16& a) {
  return F32x16::from([&](std::size_t i) { return static_cast<float>(a.lane[i]); });
}

/// vcvtph2ps of 16 halves.
inline F32x16 from_halves(const I32x8& halves) {
  const auto bits = std::bit_cast<std::array<std::uint16_t, 16>>(halves.lane);
  return F32x16::from([&](std::size_t i) { return lattice::to_float(Float16{bits[i]}); });
}

inline Bf16x16 to_bf16(const F32x16& a) {
  return Bf16x16::from([&](std::size_t i) { return to_bfloat16(a.lane[i]).bits; });
}

/// vpunpck{l,h}dq inside each half of 128 bits.
inline I32x8 unpack(const I32x8& a, const I32x8& b, std::size_t first) {
  return I32x8::from([&](std::size_t i) {
    const std::size_t from = i / 4 * 4 + first + i % 4 / 2;
    return i % 2 == 0 ? a.lane[from] : b.lane[from];
  });
}

/// vperm2i128: each half of the result is one of the four halves of a and b.
inline I32x8 permute_halves(const I32x8& a, const I32x8& b, unsigned control) {
  return I32x8::from([&](std::size_t i) {
    const unsigned half = control >> (i / 4 * 4) & 3u;
    return (half < 2 ? a : b).lane[half % 2 * 4 + i % 4];
  });
}

}  // namespace lattice::emulated

#undef HWY_PUSH_ATTRIBUTES
#define HWY_PUSH_ATTRIBUTES(targets)
#undef HWY_POP_ATTRIBUTES
#define HWY_POP_ATTRIBUTES

// style: allow(macro) the intrinsics' own names
#define __m512 lattice::emulated::F32x16
#define __m512i lattice::emulated::I32x16
#define __m512bh lattice::emulated::Bf16x32
#define __m256i lattice::emulated::I32x8
#define _mm512_setzero_ps() \
  lattice::emulated::F32x16 {}
#define _mm512_setzero_si512() \
  lattice::emulated::I32x16 {}
#define _mm512_load_ps(p) lattice::emulated::F32x16::load(p)
#define _mm512_loadu_ps(p) lattice::emulated::F32x16::load(p)
#define _mm512_store_ps(p, v) (v).store(p)
#define _mm512_load_si512(p) lattice::emulated::I32x16::load(p)
#define _mm256_load_si256(p) lattice::emulated::I32x8::load(p)
#define _mm256_storeu_epi32(p, v) (v).store(p)
#define _mm512_set1_ps(x) lattice::emulated::F32x16::from([&](std::size_t) { return (x); })
#define _mm512_set1_epi32(x) lattice::emulated::I32x16::from([&](std::size_t) { return (x); })
#define _mm512_dpbusd_epi32 lattice::emulated::dpbusd
#define _mm512_dpbf16_ps lattice::emulated::dpbf16
#define _mm512_fmadd_ps lattice::emulated::fmadd
#define _mm512_mul_ps lattice::emulated::multiply
#define _mm512_sub_epi32 lattice::emulated::subtract
#define _mm512_maskz_cvtepi32_ps(mask, v) lattice::emulated::to_float(v)
#define _mm512_maskz_cvtph_ps(mask, v) lattice::emulated::from_halves(v)
#define _mm512_cvtneps_pbh lattice::emulated::to_bf16
#define _mm256_unpacklo_epi32(a, b) lattice::emulated::unpack(a, b, 0)
#define _mm256_unpackhi_epi32(a, b) lattice::emulated::unpack(a, b, 2)
#undef _mm256_permute2x128_si256
#define _mm256_permute2x128_si256 lattice::emulated::permute_halves
