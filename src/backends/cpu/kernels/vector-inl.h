// Helpers on vectors of f32 for one Highway target.

#if defined(LATTICE_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_VECTOR_INL_H_
#undef LATTICE_KERNELS_VECTOR_INL_H_
#else
#define LATTICE_KERNELS_VECTOR_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

inline constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));

/// The first `count` < kLanes lanes from p, the others `fill`. Touches no other memory.
HWY_INLINE FloatVec load_partial(const float* p, std::int64_t count, float fill = 0.0f) {
  HWY_ALIGN float lanes[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) lanes[i] = fill;
  std::memcpy(lanes, p, static_cast<std::size_t>(count) * sizeof(float));
  return hn::Load(FloatTag(), lanes);
}

/// Stores the first `count` < kLanes lanes to p. Touches no other memory.
HWY_INLINE void store_partial(FloatVec v, float* p, std::int64_t count) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, FloatTag(), lanes);
  std::memcpy(p, lanes, static_cast<std::size_t>(count) * sizeof(float));
}

/// A sum of vectors and then of their lanes, in an order that depends on the number of vectors
/// alone. Two partial sums take turns, which hides the latency of the additions.
class LaneSum {
 public:
  HWY_INLINE LaneSum() : next_(hn::Zero(FloatTag())), last_(hn::Zero(FloatTag())) {}
  HWY_INLINE void add(FloatVec v) { rotate(hn::Add(next_, v)); }
  HWY_INLINE void add_product(FloatVec a, FloatVec b) { rotate(hn::MulAdd(a, b, next_)); }
  HWY_INLINE float total() const {
    const FloatTag d;
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(next_, last_)));
  }

 private:
  HWY_INLINE void rotate(FloatVec updated) {
    next_ = last_;
    last_ = updated;
  }

  FloatVec next_;
  FloatVec last_;
};

/// The sum of squares of x [size], in f32, in LaneSum's order.
HWY_INLINE float sum_of_squares(const float* x, std::int64_t size) {
  const FloatTag d;
  LaneSum squares;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const FloatVec v = hn::LoadU(d, x + i);
    squares.add_product(v, v);
  }
  if (i < size) {
    const FloatVec v = load_partial(x + i, size - i);
    squares.add_product(v, v);
  }
  return squares.total();
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_VECTOR_INL_H_
