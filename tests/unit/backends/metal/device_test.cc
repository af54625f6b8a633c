// What device.h promises, on whichever device the program is linked with.

#include "backends/metal/device.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "backends/metal/msl_parts.h"
#include "backends/metal/msl_source.h"
#include "base/mapped_file.h"
#include "support/temp_dir.h"
#include "unit/backends/metal/must_shapes.h"
#include "unit/backends/metal/test_device.h"

namespace lattice::metal {
namespace {

constexpr std::string_view kSource = R"(#include <metal_stdlib>
using namespace metal;
struct Scale { float factor; uint count; };
kernel void scale(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                  constant Scale& args [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < args.count) out[i] = x[i] * args.factor;
}
kernel void add_one(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] += 1.0f;
}
)";
struct Scale {
  float factor;
  std::uint32_t count;
};

constexpr std::size_t kCount = 64;

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = make_test_device();
    if (!device) GTEST_SKIP() << "hardware: " << device.error().message;
    device_ = std::move(*device);
    library_ = value_or_throw(device_->compile(kSource));
    scale_ = value_or_throw(device_->make_pipeline(*library_, "scale"));
    add_one_ = value_or_throw(device_->make_pipeline(*library_, "add_one"));
    commands_ = device_->make_commands();
  }

  std::unique_ptr<Buffer> buffer_of(std::span<const float> values) {
    auto buffer = value_or_throw(device_->make_buffer(values.size_bytes()));
    std::memcpy(buffer->contents().data(), values.data(), values.size_bytes());
    return buffer;
  }
  static std::vector<float> values_of(Buffer& buffer) {
    std::vector<float> values(buffer.num_bytes() / sizeof(float));
    std::memcpy(values.data(), buffer.contents().data(), buffer.num_bytes());
    return values;
  }
  // out = x * factor for the first kCount numbers of `x`, from byte `offset` on.
  Result<void> scale(Buffer& x, std::size_t offset, Buffer& out, float factor) {
    commands_->set_pipeline(*scale_);
    commands_->set_buffer(0, x, offset);
    commands_->set_buffer(1, out, 0);
    set_value(*commands_, 2, Scale{factor, kCount});
    commands_->dispatch({2}, {32});
    return commands_->commit_and_wait();
  }
  static void expect_internal(const Result<void>& done) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kInternal) << done.error().message;
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Pipeline> scale_, add_one_;
  std::unique_ptr<Commands> commands_;
};

TEST_F(DeviceTest, RunsAKernelFromAnOffsetOn) {
  std::vector<float> values(kCount + 1, 2.0f);
  values.front() = 9.0f;
  const auto x = buffer_of(values);
  const auto out = buffer_of(std::vector<float>(kCount, 0.0f));
  const auto done = scale(*x, sizeof(float), *out, 1.5f);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(values_of(*out), std::vector<float>(kCount, 3.0f));
  EXPECT_FALSE(x->is_read_only());
  EXPECT_FALSE(device_->name().empty());
}

TEST_F(DeviceTest, DispatchesSeeWhatEarlierOnesWroteAndBindingsStay) {
  const auto x = buffer_of(std::vector<float>(kCount, 1.0f));
  commands_->set_pipeline(*add_one_);
  commands_->set_buffer(0, *x, 0);
  for (int i = 0; i < 50; ++i) commands_->dispatch({2}, {32});
  ASSERT_TRUE(commands_->commit_and_wait());
  commands_->dispatch({2}, {32});  // after a commit, too
  ASSERT_TRUE(commands_->commit_and_wait());
  EXPECT_EQ(values_of(*x), std::vector<float>(kCount, 52.0f));
  EXPECT_TRUE(commands_->commit_and_wait()) << "nothing to do is no error";
}

TEST_F(DeviceTest, ManyThreadsUseOneDevice) {
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 5; ++run) {
        const auto x = buffer_of(std::vector<float>(kCount, static_cast<float>(t)));
        const auto commands = device_->make_commands();
        commands->set_pipeline(*add_one_);
        commands->set_buffer(0, *x, 0);
        commands->dispatch({2}, {32});
        if (commands->commit_and_wait()) results[t] = values_of(*x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_EQ(results[t], std::vector<float>(kCount, static_cast<float>(t + 1)));
  }
}

TEST_F(DeviceTest, BrokenLimitsAreOurFault) {
  const auto x = buffer_of(std::vector<float>(kCount, 1.0f));
  commands_->dispatch({2}, {32});
  expect_internal(commands_->commit_and_wait());  // no pipeline
  commands_->set_pipeline(*add_one_);
  commands_->dispatch({2}, {32});
  expect_internal(commands_->commit_and_wait());  // nothing bound
  commands_->set_buffer(0, *x, 0);
  commands_->dispatch({1}, {add_one_->max_threads_per_threadgroup() + 1});
  expect_internal(commands_->commit_and_wait());
  commands_->dispatch({0}, {32});
  expect_internal(commands_->commit_and_wait());
  set_value(*commands_, 0, 1.0f);
  commands_->dispatch({1}, {1});
  expect_internal(commands_->commit_and_wait());  // a constant to write to
  EXPECT_EQ(values_of(*x), std::vector<float>(kCount, 1.0f));
}

TEST_F(DeviceTest, WhatDoesNotCompileIsAnErrorWithTheCompilersWords) {
  const auto library = device_->compile("kernel void k(device float* x [[buffer(0)]]) { x = y; }");
  Error error;
  if (library) {
    const auto pipeline = device_->make_pipeline(**library, "k");
    ASSERT_FALSE(pipeline);
    error = pipeline.error();
  } else {
    error = library.error();
  }
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_THAT(error.message, ::testing::HasSubstr("y"));
  const auto absent = device_->make_pipeline(*library_, "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kInternal);
}

// A weight in the middle of a file, on no page boundary, and one that ends where the file ends.
TEST_F(DeviceTest, KernelsReadAMappedFileWhereItIs) {
  std::vector<float> values(3 * 4096 + kCount);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  TempDir folder;
  const auto path = folder.path() / "weights";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  const auto file = std::make_shared<const MappedFile>(value_or_throw(MappedFile::open(path)));
  const auto out = buffer_of(std::vector<float>(kCount, 0.0f));
  for (const std::size_t first : {std::size_t{0}, std::size_t{4099}, values.size() - kCount}) {
    const auto bytes = file->bytes().subspan(first * sizeof(float), kCount * sizeof(float));
    const auto wrapped = device_->wrap_memory(bytes, file);
    ASSERT_NE(wrapped, nullptr) << "allowed, and then weights are copied, but not expected";
    EXPECT_TRUE(wrapped->is_read_only());
    EXPECT_EQ(wrapped->num_bytes(), bytes.size());
    const auto done = scale(*wrapped, 0, *out, 2.0f);
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(values_of(*out)[i], 2.0f * static_cast<float>(first + i));
    }
    EXPECT_THROW(wrapped->contents(), LatticeError);
    commands_->set_pipeline(*add_one_);
    commands_->set_buffer(0, *wrapped, 0);
    commands_->dispatch({2}, {32});
    expect_internal(commands_->commit_and_wait());
  }
}

TEST_F(DeviceTest, AWrappedOwnerLivesAsLongAsTheBuffer) {
  auto owner = std::make_shared<const std::vector<float>>(1 << 16, 1.0f);
  const std::weak_ptr<const std::vector<float>> alive = owner;
  auto wrapped = device_->wrap_memory(std::as_bytes(std::span(*owner)), owner);
  ASSERT_NE(wrapped, nullptr);
  owner.reset();
  EXPECT_FALSE(alive.expired());
  const auto out = buffer_of(std::vector<float>(kCount, 0.0f));
  EXPECT_TRUE(scale(*wrapped, 0, *out, 1.0f));
  wrapped.reset();
  commands_.reset();
  EXPECT_TRUE(alive.expired());
}

struct KernelName {
  std::string name;
  /// That the host code asks for, at most: 256, or what the kernel says in the line before it.
  std::uint32_t num_threads = 256;
};

// The kernels that begin a line of `source`.
std::vector<KernelName> kernel_names(std::string_view source) {
  constexpr std::string_view kBefore = "\nkernel void ";
  constexpr std::string_view kLimit = "[[max_total_threads_per_threadgroup(";
  std::vector<KernelName> kernels;
  for (auto at = source.find(kBefore); at != source.npos; at = source.find(kBefore, at + 1)) {
    const auto begin = at + kBefore.size();
    KernelName kernel{.name = std::string(source.substr(begin, source.find('(', begin) - begin))};
    const auto line = source.substr(source.rfind('\n', at - 1) + 1);
    if (line.starts_with(kLimit)) {
      unsigned a = 1, b = 1;  // "(128)" or "(32 * 4)"
      std::sscanf(std::string(line.substr(kLimit.size(), 16)).c_str(), "%u * %u", &a, &b);
      kernel.num_threads = a * b;
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

class DeviceShapeTest : public DeviceTest, public ::testing::WithParamInterface<HeadShape> {};

// Makes every kernel of `source`, and returns how many there are.
std::size_t make_all(Device& device, const std::string& source) {
  const auto library = value_or_throw(device.compile(source));
  const auto kernels = kernel_names(source);
  for (const KernelName& kernel : kernels) {
    const auto pipeline = value_or_throw(device.make_pipeline(*library, kernel.name));
    EXPECT_LE(pipeline->threadgroup_bytes(), kMaxThreadgroupBytes) << kernel.name;
    // Fewer than the host code asks for: the kernel needs too many registers here.
    EXPECT_GE(pipeline->max_threads_per_threadgroup(), kernel.num_threads) << kernel.name;
  }
  return kernels.size();
}

TEST_P(DeviceShapeTest, EveryKernelFitsTheDevice) {
  const auto source = value_or_throw(msl_source_for(GetParam().head_dim, GetParam().groups));
  EXPECT_EQ(make_all(*device_, source), 2u);  // attention, qk_norm_rope
}

TEST_F(DeviceTest, EveryKernelForAnyHeadsFitsTheDevice) {
  EXPECT_GT(make_all(*device_, value_or_throw(msl_source_for_any_heads())), 25u);
}

INSTANTIATE_TEST_SUITE_P(Must, DeviceShapeTest, ::testing::ValuesIn(kMustShapes),
                         [](const auto& shape) {
                           return "head_dim_" + std::to_string(shape.param.head_dim) + "_groups_" +
                                  std::to_string(shape.param.groups);
                         });

}  // namespace
}  // namespace lattice::metal
