#include "support/fake_gpu.h"

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "support/forwarding_backend.h"

namespace lattice {
namespace {

/// Counts ops, and fails before an op has written anything.
class FakeGpuBackend final : public ForwardingBackend {
 public:
  std::string_view name() const override { return "gpu"; }
  Result<void> supports(const HeadShape& heads) const override {
    if (!fake_gpu().refuses_heads) return {};
    return fail(ErrorCode::kUnsupported, "head_dim: no kernels for {}", heads.head_dim);
  }

 protected:
  void before_op() const override {
    if (fake_gpu().num_ops++ >= fake_gpu().fails_at) {
      raise(ErrorCode::kUnavailable, "the fake GPU is gone");
    }
  }
};

constexpr std::array kRows = {
    BackendRow{.name = "gpu",
               .is_gpu = true,
               .make = []() -> Result<std::shared_ptr<const Backend>> {
                 if (fake_gpu().absent) return fail(ErrorCode::kUnavailable, "no fake GPU");
                 return std::make_shared<const FakeGpuBackend>();
               }},
    BackendRow{.name = "cpu", .make = &make_cpu_backend},
};

}  // namespace

FakeGpu& fake_gpu() {
  static FakeGpu gpu;
  return gpu;
}

std::span<const BackendRow> backend_rows() { return kRows; }

}  // namespace lattice
