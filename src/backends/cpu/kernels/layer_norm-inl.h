// LayerNorm of rows for one Highway target.

#if defined(LATTICE_KERNELS_LAYER_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_LAYER_NORM_INL_H_
#undef LATTICE_KERNELS_LAYER_NORM_INL_H_
#else
#define LATTICE_KERNELS_LAYER_NORM_INL_H_
#endif

#include <cmath>

#include <hwy/highway.h>
#include "backends/cpu/kernels/vector-inl.h"
#include "ops/layer_norm.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// out = x + residual (x alone where residual is nullptr); returns the sum of out.
HWY_INLINE float add_residual(const float* x, const float* residual, std::int64_t size,
                              float* out) {
  const FloatTag d;
  LaneSum sum;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    FloatVec y = hn::LoadU(d, x + i);
    if (residual != nullptr) y = hn::Add(y, hn::LoadU(d, residual + i));
    hn::StoreU(y, d, out + i);
    sum.add(y);
  }
  if (i < size) {
    FloatVec y = load_partial(x + i, size - i);
    if (residual != nullptr) y = hn::Add(y, load_partial(residual + i, size - i));
    store_partial(y, out + i, size - i);
    sum.add(y);
  }
  return sum.total();
}

/// The sum of (y - mean)^2.
HWY_INLINE float sum_of_squares(const float* y, std::int64_t size, float mean) {
  const FloatTag d;
  const FloatVec means = hn::Set(d, mean);
  LaneSum sum;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const FloatVec difference = hn::Sub(hn::LoadU(d, y + i), means);
    sum.add_product(difference, difference);
  }
  if (i < size) {
    const FloatVec difference = hn::Sub(load_partial(y + i, size - i, mean), means);
    sum.add_product(difference, difference);
  }
  return sum.total();
}

HWY_INLINE FloatVec normalized(FloatVec y, FloatVec mean, FloatVec inverse, FloatVec weight,
                               FloatVec bias) {
  return hn::MulAdd(hn::Mul(hn::Sub(y, mean), inverse), weight, bias);
}

/// y = (y - mean) * inverse * weight + bias; bias may be nullptr.
HWY_INLINE void normalize(float* y, const LayerNormArgs& args, float mean, float inverse) {
  const FloatTag d;
  const FloatVec means = hn::Set(d, mean);
  const FloatVec inverses = hn::Set(d, inverse);
  const float* weight = args.weight.data();
  const float* bias = args.bias.empty() ? nullptr : args.bias.data();
  const std::int64_t size = args.x.cols;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const FloatVec b = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + i);
    hn::StoreU(normalized(hn::LoadU(d, y + i), means, inverses, hn::LoadU(d, weight + i), b), d,
               y + i);
  }
  if (i < size) {
    const FloatVec b = bias == nullptr ? hn::Zero(d) : load_partial(bias + i, size - i);
    const FloatVec w = load_partial(weight + i, size - i);
    store_partial(normalized(load_partial(y + i, size - i), means, inverses, w, b), y + i,
                  size - i);
  }
}

/// Sums are in f32 over this many values, and of these in double: long rows lose nothing.
inline constexpr std::int64_t kSumChunk = 4096;

/// The sum over chunks of a row: chunk_sum(begin, count).
template <typename ChunkSum>
HWY_INLINE double sum_of_chunks(std::int64_t size, const ChunkSum& chunk_sum) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < size; i += kSumChunk) {
    sum += static_cast<double>(chunk_sum(i, i + kSumChunk < size ? kSumChunk : size - i));
  }
  return sum;
}

/// Rows [begin, end).
void layer_norm_rows(const LayerNormArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t size = args.x.cols;
  const auto count = static_cast<double>(size);
  for (std::int64_t r = begin; r < end; ++r) {
    const float* x = args.x.row(r);
    const float* residual = args.residual ? args.residual->row(r) : nullptr;
    float* y = args.out.row(r);
    const double sum = sum_of_chunks(size, [&](std::int64_t i, std::int64_t n) HWY_ATTR {
      return add_residual(x + i, residual == nullptr ? nullptr : residual + i, n, y + i);
    });
    const auto mean = static_cast<float>(sum / count);
    const double squares = sum_of_chunks(size, [&](std::int64_t i, std::int64_t n) HWY_ATTR {
      return sum_of_squares(y + i, n, mean);
    });
    const auto variance = static_cast<float>(squares / count);
    normalize(y, args, mean, 1.0f / std::sqrt(variance + args.eps));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_LAYER_NORM_INL_H_
