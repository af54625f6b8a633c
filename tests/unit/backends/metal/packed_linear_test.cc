// Where MetalLinear keeps a weight: in the tensor's own memory, or in a copy.

#include "backends/metal/packed_linear.h"

#include <gmock/gmock.h>

#include <cstring>
#include <optional>

#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_objects.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"
#include "base/thread_pool.h"
#include "ops/context.h"
#include "unit/backends/metal/kernel_runner.h"

namespace lattice::metal {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRows = 37;
constexpr std::int64_t kColumns = 70;

// Bytes at a chosen distance from an aligned address; counts what it is told to give up.
class Storage : public TensorStorage {
 public:
  Storage(std::span<const std::byte> bytes, std::size_t offset) : memory_(bytes.size() + offset) {
    begin_ = memory_.data() + offset;
    std::memcpy(begin_, bytes.data(), bytes.size());
  }
  void discard(std::span<const std::byte> bytes) const noexcept override {
    discarded_ += bytes.size();
  }
  const std::byte* data() const { return begin_; }
  std::size_t discarded() const { return discarded_; }

 private:
  AlignedBuffer<std::byte> memory_;
  std::byte* begin_;
  mutable std::size_t discarded_ = 0;
};

float number(std::int64_t i) { return static_cast<float>(i * 7919 % 1000) * 0.002f - 1.0f; }

template <typename T>
std::vector<T> numbers() {
  std::vector<T> values;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      values.push_back(to_bfloat16(number(i)));
    } else if constexpr (std::is_same_v<T, Float16>) {
      values.push_back(to_float16(number(i)));
    } else {
      values.push_back(number(i));
    }
  }
  return values;
}

struct Weight {
  std::shared_ptr<const Storage> storage;
  std::vector<LinearPart> parts;
};

template <typename T>
Weight make_weight(DType dtype, std::size_t offset) {
  const auto values = numbers<T>();
  auto storage = std::make_shared<const Storage>(std::as_bytes(std::span(values)), offset);
  Tensor tensor(dtype, {kRows, kColumns}, storage->data(), storage);
  return {storage, {LinearPart{std::move(tensor)}}};
}

Weight f32_weight(std::size_t offset) { return make_weight<float>(DType::kF32, offset); }
Weight bf16_weight(std::size_t offset) { return make_weight<BFloat16>(DType::kBF16, offset); }

simt::SimtOptions options(bool wraps) { return {.checked = true, .wraps_memory = wraps}; }

void expect_wrapped(const Weight& weight, WeightFormat format) {
  simt::SimtDevice device;
  const MetalLinear packed(device, weight.parts, format);
  EXPECT_TRUE(packed.weight().is_read_only());
  EXPECT_EQ(dynamic_cast<simt::SimtBuffer&>(packed.weight()).bytes().data(),
            weight.storage->data());
  EXPECT_EQ(packed.weight().num_bytes(), weight.parts[0].weight.num_bytes());
  EXPECT_EQ(packed.num_bytes(), packed.bias().num_bytes());
  EXPECT_EQ(weight.storage->discarded(), 0u) << "the kernels still need those pages";
}

void expect_copied(const Weight& weight, WeightFormat format) {
  simt::SimtDevice device;
  const MetalLinear packed(device, weight.parts, format);
  EXPECT_FALSE(packed.weight().is_read_only());
  EXPECT_GE(packed.num_bytes(), packed.weight().num_bytes() + packed.bias().num_bytes());
  std::size_t bytes = 0;
  for (const LinearPart& part : weight.parts) bytes += part.weight.num_bytes();
  EXPECT_EQ(weight.storage->discarded(), bytes);
}

TEST(MetalLinear, WrapsOnePartThatIsStoredAsTheKernelsReadIt) {
  for (const std::size_t offset : {0u, 4u, 12u})
    expect_wrapped(f32_weight(offset), WeightFormat::kF32);
  for (const std::size_t offset : {0u, 2u, 6u}) {
    expect_wrapped(bf16_weight(offset), WeightFormat::kBF16);
    // In f32 arithmetic the 16 bits are converted as they are read.
    expect_wrapped(bf16_weight(offset), WeightFormat::kF32);
    expect_wrapped(make_weight<Float16>(DType::kF16, offset), WeightFormat::kF32);
  }
}

TEST(MetalLinear, CopiesWhatIsMisaligned) {
  for (const std::size_t offset : {1u, 2u, 3u})
    expect_copied(f32_weight(offset), WeightFormat::kF32);
  for (const std::size_t offset : {1u, 3u}) expect_copied(bf16_weight(offset), WeightFormat::kBF16);
}

TEST(MetalLinear, CopiesWhatMustBeConverted) {
  expect_copied(f32_weight(0), WeightFormat::kBF16);
  expect_copied(make_weight<Float16>(DType::kF16, 0), WeightFormat::kBF16);
  expect_copied(f32_weight(0), WeightFormat::kQ8_0);
  for (Weight weight : {f32_weight(0), bf16_weight(0)}) {
    const auto format =
        weight.parts[0].weight.dtype() == DType::kF32 ? WeightFormat::kF32 : WeightFormat::kBF16;
    weight.parts[0].weight = weight.parts[0].weight.as_q8_0();
    expect_copied(weight, format);
  }
}

TEST(MetalLinear, CopiesSeveralParts) {
  Weight weight = f32_weight(0);
  const Tensor whole = weight.parts[0].weight;
  weight.parts = {{whole.slice_rows(0, 5)}, {whole.slice_rows(5, kRows)}};
  expect_copied(weight, WeightFormat::kF32);
}

TEST(MetalLinear, CopiesWhereTheDeviceCannotWrap) {
  const Weight weight = f32_weight(0);
  simt::SimtDevice device(options(false));
  EXPECT_FALSE(MetalLinear(device, weight.parts, WeightFormat::kF32).weight().is_read_only());
}

TEST(MetalLinear, KeepsTheWrappedMemoryAlive) {
  Weight weight = f32_weight(0);
  simt::SimtDevice device;
  std::optional<MetalLinear> packed(std::in_place, device, weight.parts, WeightFormat::kF32);
  const std::weak_ptr<const Storage> storage = weight.storage;
  weight = {};
  EXPECT_FALSE(storage.expired());
  packed.reset();
  EXPECT_TRUE(storage.expired());
}

std::vector<float> multiply(const Weight& weight, WeightFormat format, std::int64_t rows,
                            bool wraps) {
  const auto backend =
      std::make_shared<const MetalBackend>(std::make_shared<simt::SimtDevice>(options(wraps)));
  Context context(backend, std::make_shared<ThreadPool>(1));
  const auto packed = backend->pack_linear(context.threads(), weight.parts, format);
  std::vector<float> x, out(static_cast<std::size_t>(rows * kRows));
  for (std::int64_t i = 0; i < rows * kColumns; ++i) x.push_back(number(i * 3 + 1));
  backend->linear(
      context,
      {.weight = packed.get(), .x = {x.data(), rows, kColumns}, .out = {out.data(), rows, kRows}});
  return out;
}

TEST(MetalLinear, WrappedAndCopiedWeightsGiveTheSameBits) {
  for (const std::int64_t rows : {1, 3, 12, 70}) {
    for (const std::size_t offset : {0u, 4u, 2u}) {
      const Weight f32 = f32_weight(offset);
      EXPECT_EQ(multiply(f32, WeightFormat::kF32, rows, true),
                multiply(f32_weight(0), WeightFormat::kF32, rows, false));
      const Weight bf16 = bf16_weight(offset);
      EXPECT_EQ(multiply(bf16, WeightFormat::kBF16, rows, true),
                multiply(bf16_weight(0), WeightFormat::kBF16, rows, false));
      EXPECT_EQ(multiply(bf16, WeightFormat::kF32, rows, true),
                multiply(bf16_weight(0), WeightFormat::kF32, rows, false));
    }
  }
}

// Runs kernel k(x, out) of `body` with x wrapped, or with both buffers wrapped.
Result<void> run_wrapped(std::string_view body, bool wraps_out) {
  simt::SimtDevice device;
  const auto library = value_or_throw(device.compile(test_source(
      "kernel void k(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],\n"
      "              uint tid [[thread_index_in_threadgroup]]) {\n" +
      std::string(body) + "\n}\n")));
  const auto pipeline = value_or_throw(device.make_pipeline(*library, "k"));
  const auto x = std::make_shared<const std::vector<float>>(64, 1.0f);
  const auto wrapped = device.wrap_memory(std::as_bytes(std::span(*x)), x);
  const auto own = value_or_throw(device.make_buffer(256));
  const auto commands = device.make_commands();
  commands->set_pipeline(*pipeline);
  commands->set_buffer(0, *wrapped, 0);
  commands->set_buffer(1, wraps_out ? *wrapped : *own, 0);
  commands->dispatch({1}, {32});
  return commands->commit_and_wait();
}

TEST(WrappedMemory, IsReadAndNeverWritten) {
  const auto read = run_wrapped("out[tid] = x[tid];", false);
  EXPECT_TRUE(read) << read.error().message;
  const auto bound = run_wrapped("out[tid] = x[tid];", true);
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("out may be written to, got wrapped memory"));
  const auto cast = run_wrapped("device float* to = (device float*)x;\nto[tid] = 0.0f;", false);
  ASSERT_FALSE(cast);
  EXPECT_THAT(cast.error().message, HasSubstr("read-only"));
  EXPECT_THAT(cast.error().message, HasSubstr("write at test.metal:4"));
}

TEST(WrappedMemory, HasItsOwnBounds) {
  const auto beyond = run_wrapped("out[tid] = x[tid + 33];", false);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("outside every buffer"));
}

TEST(WrappedMemory, IsNotHandedOutForWriting) {
  simt::SimtDevice device;
  const auto x = std::make_shared<const std::vector<float>>(64, 1.0f);
  const auto wrapped = device.wrap_memory(std::as_bytes(std::span(*x)), x);
  EXPECT_THROW(wrapped->contents(), LatticeError);
}

}  // namespace
}  // namespace lattice::metal
