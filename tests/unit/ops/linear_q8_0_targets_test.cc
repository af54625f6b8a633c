// Q8_0 products are integers within a block and a chain of f32 over the blocks, so that the targets
// of one processor agree to the bit although their instructions sum in different orders.
#include "backends/cpu/cpu_backend.h"
#include "support/q8_tensors.h"
#include "unit/ops/op_test.h"

namespace lattice {
namespace {

Grid product(CpuTarget target, const Tensor& weight, const Grid& x) {
  Context context(std::make_shared<const CpuBackend>(target), std::make_shared<ThreadPool>(2));
  const std::vector<LinearPart> parts{{.weight = weight}};
  const auto packed = context.backend().pack_linear(context.threads(), parts, WeightFormat::kQ8_0);
  Grid out(x.rows(), packed->out_features());
  linear(context, {.weight = packed.get(), .x = x.view(), .out = out.view()});
  return out;
}

// The scalar target rounds products before it adds them: its chains are others.
std::vector<CpuTarget> fused_targets() {
  std::vector<CpuTarget> targets = available_cpu_targets(CpuFeatures::host());
  std::erase(targets, CpuTarget::kScalar);
  return targets;
}

TEST(LinearQ8Targets, AllButScalarGiveTheSameBits) {
  const std::vector<CpuTarget> targets = fused_targets();
  if (targets.size() < 2) GTEST_SKIP() << "hardware: a single vector target";
  for (const std::int64_t k : {1, 32, 80, 300}) {
    for (const std::int64_t n : {1, 18, 77}) {
      Numbers numbers(static_cast<std::uint32_t>(k * 100 + n));
      const Tensor weight = q8_tensor(n, k, random_q8_blocks(n, k, 5));
      for (const std::int64_t m : {1, 2, 3, 7, 13, 16}) {
        const Grid x(m, k, numbers);
        const Grid expected = product(targets.back(), weight, x);
        for (const CpuTarget target : targets) {
          SCOPED_TRACE(::testing::Message()
                       << cpu_target_name(target) << " M " << m << " N " << n << " K " << k);
          const Grid got = product(target, weight, x);
          for (std::int64_t r = 0; r < m; ++r) expect_same_bits(got, r, expected, r);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice
