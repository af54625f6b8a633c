// Elementwise functions on vectors of f32, for one Highway target.
//
// The polynomials are minimax fits (iteratively reweighted least squares in double) made for this
// project; the stated bounds are measured over the whole range by
// tests/unit/ops/activation_test.cc.

#if defined(LATTICE_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_MATH_INL_H_
#undef LATTICE_KERNELS_MATH_INL_H_
#else
#define LATTICE_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// 2^x within 2 ulp for x in [-126, 127]; 0 below (no subnormals), NaN for NaN. x must not exceed
/// 127.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_small(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  // Below -127 everything is zero. A comparison, not Max, so that NaN passes.
  const V lowest = hn::Set(d, -127.0f);
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
  // Adding 1.5 * 2^23 + 127 leaves round(x) + 127, the biased exponent of 2^round(x), in the low
  // bits of the sum.
  const V magic = hn::Set(d, 12582912.0f + 127.0f);
  const V shifted = hn::Add(x, magic);
  const V fraction = hn::Sub(x, hn::Sub(shifted, magic));
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, shifted)));
  V p = hn::Set(d, 0.0013264727391618172f);
  p = hn::MulAdd(p, fraction, hn::Set(d, 0.009671512917324706f));
  p = hn::MulAdd(p, fraction, hn::Set(d, 0.05550733745336575f));
  p = hn::MulAdd(p, fraction, hn::Set(d, 0.24022242081104891f));
  p = hn::MulAdd(p, fraction, hn::Set(d, 0.6931469775964697f));
  p = hn::MulAdd(p, fraction, hn::Set(d, 1.0f));
  return hn::Mul(p, scale);
}

/// e^x for x <= 0, within 1e-7 + |x| 2^-24 relative.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) {
  return exp2_small(d, hn::Mul(x, hn::Set(d, 1.44269504088896340736f)));
}

struct IdentityOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

struct ReluOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
};

/// 1 / (1 + e^-x); absolute error below 1.5e-7.
struct SigmoidOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0f);
    const V e = exp_nonpositive(d, hn::Neg(hn::Abs(x)));
    const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::Div(numerator, hn::Add(one, e));
  }
};

/// x sigmoid(x); error below 2e-7 max(1, |x|).
struct SiluOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, SigmoidOp()(d, x));
  }
};

/// tanh(x); relative error below 4e-7.
struct TanhOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0f);
    const V magnitude = hn::Abs(x);
    const V e = exp_nonpositive(d, hn::Mul(magnitude, hn::Set(d, -2.0f)));
    const V large = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
    const V square = hn::Mul(x, x);
    V p = hn::Set(d, -0.00570494639580504f);
    p = hn::MulAdd(p, square, hn::Set(d, 0.020639052456738062f));
    p = hn::MulAdd(p, square, hn::Set(d, -0.053739704932027774f));
    p = hn::MulAdd(p, square, hn::Set(d, 0.1333144208310853f));
    p = hn::MulAdd(p, square, hn::Set(d, -0.3333328193803529f));
    const V small = hn::MulAdd(hn::Mul(p, square), x, x);
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, large);
  }
};

/// x Phi(x), the exact GELU; error below 1.2e-7 max(1, |x|).
///
/// gelu(x) = max(x, 0) - |x| Phi(-|x|), and log2 Phi(-a) is fitted by a polynomial in a: unlike the
/// form with 1 + erf, nothing cancels for negative x.
struct GeluOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V a = hn::Min(hn::Abs(x), hn::Set(d, 6.0f));
    V p = hn::Set(d, -1.9020657236452954e-06f);
    p = hn::MulAdd(p, a, hn::Set(d, 2.8056942089262894e-05f));
    p = hn::MulAdd(p, a, hn::Set(d, -0.00013147323189197048f));
    p = hn::MulAdd(p, a, hn::Set(d, -0.00027207570816526464f));
    p = hn::MulAdd(p, a, hn::Set(d, 0.007245421190098191f));
    p = hn::MulAdd(p, a, hn::Set(d, -0.05262761079366608f));
    p = hn::MulAdd(p, a, hn::Set(d, -0.45916214313757453f));
    p = hn::MulAdd(p, a, hn::Set(d, -1.1511110455285039f));
    p = hn::MulAdd(p, a, hn::Set(d, -1.0f));
    return hn::NegMulAdd(a, exp2_small(d, p), ReluOp()(d, x));
  }
};

/// The tanh approximation of GELU, as x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)); error below 3e-7
/// max(1, |x|).
struct GeluTanhOp {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V square = hn::Mul(x, x);
    const V slope = hn::MulAdd(square, hn::Set(d, 2.0f * 0.7978845608028654f * 0.044715f),
                               hn::Set(d, 2.0f * 0.7978845608028654f));
    return hn::Mul(x, SigmoidOp()(d, hn::Mul(x, slope)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_MATH_INL_H_
