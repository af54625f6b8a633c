// RMSNorm of one row for one Highway target.

#if defined(LATTICE_KERNELS_RMS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_RMS_NORM_INL_H_
#undef LATTICE_KERNELS_RMS_NORM_INL_H_
#else
#define LATTICE_KERNELS_RMS_NORM_INL_H_
#endif

#include <cmath>

#include <hwy/highway.h>
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// out = x / sqrt(mean(x^2) + eps) * (offset + weight); out may be x.
HWY_INLINE void rms_norm_row(const float* x, const float* weight, float offset, float eps,
                             std::int64_t size, float* out) {
  const FloatTag d;
  const FloatVec inverse =
      hn::Set(d, 1.0f / std::sqrt(sum_of_squares(x, size) / static_cast<float>(size) + eps));
  const FloatVec offsets = hn::Set(d, offset);
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const FloatVec w = hn::Add(hn::LoadU(d, weight + i), offsets);
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), inverse), w), d, out + i);
  }
  if (i < size) {
    const FloatVec w = hn::Add(load_partial(weight + i, size - i), offsets);
    store_partial(hn::Mul(hn::Mul(load_partial(x + i, size - i), inverse), w), out + i, size - i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_RMS_NORM_INL_H_
