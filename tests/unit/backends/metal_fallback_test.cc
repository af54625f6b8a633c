// Every way in which Metal can let a model down, and the CPU that takes over. No kernel runs here:
// the device fails at the step that the test names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/fallback/fallback_backend.h"
#include "backends/metal/metal_backend.h"
#include "backends/registry.h"
#include "base/log.h"
#include "engine/device.h"
#include "ops/ops.h"

namespace lattice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The step of a kernel's life that fails.
enum class Step { kCompile, kPipeline, kBuffer, kCommit };

class FakeBuffer final : public metal::Buffer {
 public:
  explicit FakeBuffer(std::size_t num_bytes) : bytes_(num_bytes) {}
  std::span<std::byte> contents() override { return bytes_; }
  std::size_t num_bytes() const override { return bytes_.size(); }
  bool is_read_only() const override { return false; }

 private:
  std::vector<std::byte> bytes_;
};

class FakePipeline final : public metal::Pipeline {
 public:
  std::string_view name() const override { return "any"; }
  std::uint32_t max_threads_per_threadgroup() const override { return 1024; }
  std::uint32_t threadgroup_bytes() const override { return 0; }
};

class FailingCommands final : public metal::Commands {
 public:
  void set_pipeline(const metal::Pipeline&) override {}
  void set_buffer(std::uint32_t, metal::Buffer&, std::size_t) override {}
  void set_bytes(std::uint32_t, std::span<const std::byte>) override {}
  void dispatch(metal::Extent, metal::Extent) override {}
  Result<void> commit_and_wait() override { return fail(ErrorCode::kUnavailable, "the GPU hung"); }
};

class FailingDevice final : public metal::Device {
 public:
  explicit FailingDevice(Step step) : step_(step) {}

  std::string name() const override { return "failing"; }
  Result<std::unique_ptr<metal::Buffer>> make_buffer(std::size_t num_bytes) override {
    if (step_ == Step::kBuffer) return fail(ErrorCode::kUnavailable, "out of memory");
    return std::make_unique<FakeBuffer>(num_bytes);
  }
  std::unique_ptr<metal::Buffer> wrap_memory(std::span<const std::byte>,
                                             std::shared_ptr<const void>) override {
    return nullptr;
  }
  Result<std::unique_ptr<metal::Library>> compile(std::string_view) override {
    if (step_ == Step::kCompile) return fail(ErrorCode::kInternal, "does not compile");
    return std::make_unique<metal::Library>();
  }
  Result<std::unique_ptr<metal::Pipeline>> make_pipeline(const metal::Library&,
                                                         std::string_view) override {
    if (step_ == Step::kPipeline) return fail(ErrorCode::kInternal, "no such kernel");
    return std::make_unique<FakePipeline>();
  }
  std::unique_ptr<metal::Commands> make_commands() override {
    return std::make_unique<FailingCommands>();
  }

 private:
  Step step_;
};

std::vector<float> normalized_product(Context& context) {
  const LinearPart part{
      Tensor::from_floats({2, 3}, std::array{1.0f, 2.0f, 3.0f, -1.0f, 0.5f, 4.0f}), {}};
  const std::array parts{part};
  const auto weight = context.backend().pack_linear(context.threads(), parts, WeightFormat::kF32);
  const std::vector<float> x = {0.5f, -2.0f, 3.0f};
  std::vector<float> product(2);
  std::vector<float> out(2);
  const std::vector<float> scale = {2.0f, 1.0f};
  linear(context, {.weight = weight.get(),
                   .x = ConstMatrix(x.data(), 1, 3),
                   .out = MutMatrix(product.data(), 1, 2)});
  rms_norm(context, {.x = ConstMatrix(product.data(), 1, 2),
                     .weight = scale,
                     .eps = 1e-6f,
                     .out = MutMatrix(out.data(), 1, 2)});
  return out;
}

class MetalFallback : public testing::TestWithParam<std::pair<Step, const char*>> {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view message) { log_.emplace_back(message); });
  }
  void TearDown() override { set_log_sink({}); }

  std::shared_ptr<const Backend> metal_ = std::make_shared<const metal::MetalBackend>(
      std::make_shared<FailingDevice>(GetParam().first));
  std::shared_ptr<const Backend> cpu_ = value_or_throw(make_cpu_backend());
  std::shared_ptr<ThreadPool> threads_ = std::make_shared<ThreadPool>(1);
  std::vector<std::string> log_;
};

TEST_P(MetalFallback, TheCpuComputesWithOneWarning) {
  const auto backend = std::make_shared<const FallbackBackend>(metal_, cpu_, OnGpuFailure::kUseCpu);
  Context context(backend, threads_);
  Context alone(cpu_, threads_);
  const std::vector<float> expected = normalized_product(alone);
  EXPECT_EQ(normalized_product(context), expected);
  EXPECT_EQ(normalized_product(context), expected);
  EXPECT_EQ(context.other_device(), "cpu");
  EXPECT_THAT(backend->failure().value_or(""), HasSubstr(GetParam().second));
  EXPECT_THAT(log_, ElementsAre(HasSubstr(GetParam().second)));
}

TEST_P(MetalFallback, OrTheErrorIsThrown) {
  Context context(std::make_shared<const FallbackBackend>(metal_, cpu_, OnGpuFailure::kThrow),
                  threads_);
  try {
    normalized_product(context);
    ADD_FAILURE() << "computed";
  } catch (const LatticeError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().second));
  }
}

std::string step_name(const testing::TestParamInfo<std::pair<Step, const char*>>& test) {
  constexpr std::array kNames = {"Compile", "Pipeline", "Buffer", "Commit"};
  return kNames[static_cast<std::size_t>(test.param.first)];
}

INSTANTIATE_TEST_SUITE_P(Steps, MetalFallback,
                         testing::Values(std::pair(Step::kCompile, "does not compile"),
                                         std::pair(Step::kPipeline, "no such kernel"),
                                         std::pair(Step::kBuffer, "out of memory"),
                                         std::pair(Step::kCommit, "the GPU hung")),
                         step_name);

constexpr std::array kRows = {
    BackendRow{.name = "metal",
               .is_gpu = true,
               .make = []() -> Result<std::shared_ptr<const Backend>> {
                 return std::make_shared<const metal::MetalBackend>(
                     std::make_shared<FailingDevice>(Step::kCommit));
               }},
    BackendRow{.name = "cpu", .make = &make_cpu_backend},
};

// The rules of the template: what it has no kernels for is the CPU's, from the start.
TEST(MetalHeads, AShapeWithoutKernelsIsTheCpus) {
  std::vector<std::string> log;
  set_log_sink([&](LogLevel, std::string_view message) { log.emplace_back(message); });
  for (const auto& [heads, names] :
       {std::pair{HeadShape{.num_heads = 4, .num_kv_heads = 4, .head_dim = 18}, "head_dim"},
        std::pair{HeadShape{.num_heads = 6, .num_kv_heads = 4, .head_dim = 64},
                  "num_key_value_heads"}}) {
    log.clear();
    const DeviceChoice choice = choose_device("auto", heads, kRows);
    EXPECT_EQ(choice.backend->name(), "cpu");
    EXPECT_THAT(choice.reason, HasSubstr(names));
    EXPECT_THAT(log, ElementsAre(HasSubstr(names)));
    EXPECT_THROW(choose_device("metal", heads, kRows), LatticeError);
  }
  set_log_sink({});
  const HeadShape fine{.num_heads = 12, .num_kv_heads = 2, .head_dim = 80};
  EXPECT_EQ(choose_device("auto", fine, kRows).backend->name(), "metal");
}

}  // namespace
}  // namespace lattice
