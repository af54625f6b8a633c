// What a linear layer does to a tile of sums before it reaches memory.
#include "backends/cpu/kernels/epilogue.h"

#include <array>

#include "backends/cpu/kernels/hwy_targets.h"
#include "backends/cpu/kernels/target_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/epilogue.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

template <class Op, bool kResidual>
HWY_INLINE void finish_row(const EpilogueArgs& args, std::int64_t row) {
  const FloatTag d;
  const float* sums = args.sums + row * args.sums_stride;
  const float* residual = kResidual ? args.residual + row * args.residual_stride : nullptr;
  float* out = args.out + row * args.out_stride;
  const std::int64_t cols = args.cols;
  const float* bias = args.bias;
  std::int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) {
    FloatVec y = Op()(d, hn::Add(hn::LoadU(d, sums + c), hn::LoadU(d, bias + c)));
    if constexpr (kResidual) y = hn::Add(y, hn::LoadU(d, residual + c));
    hn::StoreU(y, d, out + c);
  }
  if (c < cols) {
    FloatVec y = Op()(d, hn::Add(hn::LoadU(d, sums + c), hn::LoadU(d, bias + c)));
    if constexpr (kResidual) y = hn::Add(y, load_partial(residual + c, cols - c));
    store_partial(y, out + c, cols - c);
  }
}

template <class Op>
HWY_NOINLINE void epilogue(const EpilogueArgs& args) {
  for (std::int64_t r = 0; r < args.rows; ++r) {
    if (args.residual != nullptr) {
      finish_row<Op, true>(args, r);
    } else {
      finish_row<Op, false>(args, r);
    }
  }
}

/// Indexed by Activation.
constexpr std::array<EpilogueFunction, kNumActivations> kEpilogues = {
    &epilogue<IdentityOp>, &epilogue<GeluOp>, &epilogue<GeluTanhOp>, &epilogue<ReluOp>,
    &epilogue<SiluOp>,     &epilogue<TanhOp>, &epilogue<SigmoidOp>};

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lattice {

EpilogueFunction epilogue_kernel(CpuTarget target, Activation activation) {
  static constexpr TargetTable<const std::array<EpilogueFunction, kNumActivations>*> kTable =
      LATTICE_TARGET_TABLE(kEpilogues);
  const auto* epilogues = kTable.get(target);
  return epilogues == nullptr ? nullptr : (*epilogues)[static_cast<std::size_t>(activation)];
}

}  // namespace lattice
#endif
