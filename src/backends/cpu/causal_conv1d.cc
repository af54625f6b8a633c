#include "ops/causal_conv1d.h"

#include <algorithm>
#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"
#include "backends/cpu/partition.h"
#include "ops/context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/causal_conv1d.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

/// One token: out = activation(sum of taps[i] * weight row i), without the taps that are nullptr.
template <class Op>
void convolve_row(const float* const* taps, const ConstMatrix& weight, float* out) {
  const FloatTag d;
  std::int64_t c = 0;
  for (; c + kLanes <= weight.cols; c += kLanes) {
    FloatVec sum = hn::Zero(d);
    for (std::int64_t i = 0; i < weight.rows; ++i) {
      if (taps[i] == nullptr) continue;
      sum = hn::MulAdd(hn::LoadU(d, weight.row(i) + c), hn::LoadU(d, taps[i] + c), sum);
    }
    hn::StoreU(Op()(d, sum), d, out + c);
  }
  const std::int64_t rest = weight.cols - c;
  if (rest == 0) return;
  FloatVec sum = hn::Zero(d);
  for (std::int64_t i = 0; i < weight.rows; ++i) {
    if (taps[i] == nullptr) continue;
    sum = hn::MulAdd(load_partial(weight.row(i) + c, rest), load_partial(taps[i] + c, rest), sum);
  }
  store_partial(Op()(d, sum), out + c, rest);
}

using ConvolveKernel = void (*)(const float* const*, const ConstMatrix&, float*);

/// Indexed by Activation.
constexpr std::array<ConvolveKernel, kNumActivations> kConvolveKernels = {
    &convolve_row<IdentityOp>, &convolve_row<GeluOp>, &convolve_row<GeluTanhOp>,
    &convolve_row<ReluOp>,     &convolve_row<SiluOp>, &convolve_row<TanhOp>,
    &convolve_row<SigmoidOp>};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

void CpuBackend::causal_conv1d(Context& context, const CausalConv1dArgs& args) const {
  using Kernel = void (*)(const float* const*, const ConstMatrix&, float*);
  static constexpr TargetTable<const std::array<Kernel, kNumActivations>*> kTable =
      LATTICE_TARGET_TABLE(kConvolveKernels);
  const Kernel kernel = (*kTable.get(target_))[static_cast<std::size_t>(args.activation)];
  const std::int64_t row_work = (args.kernel_size() + 2) * args.x.cols / 4;
  parallel_ranges(context.threads(), args.x.rows, row_work,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
                      const std::int64_t first = args.layout.begin(s);
                      for (std::int64_t row = std::max(begin, first);
                           row < std::min(end, args.layout.end(s)); ++row) {
                        std::array<const float*, kMaxConvKernel> taps{};
                        for (std::int64_t i = 0; i < args.kernel_size(); ++i) {
                          taps[static_cast<std::size_t>(i)] = args.tap(s, row - first, i);
                        }
                        kernel(taps.data(), args.weight, args.out.row(row));
                      }
                    }
                  });
}

}  // namespace lattice
#endif
