// Correct kernels compute what they say and are not flagged, whatever the schedule.

#include <numeric>

#include "unit/backends/metal/kernel_runner.h"

namespace lattice::metal {
namespace {

using simt::ScheduleKind;
using simt::SimtDevice;

// Every way to execute.
std::vector<simt::SimtOptions> all_modes() {
  std::vector<simt::SimtOptions> modes;
  for (const bool checked : {true, false}) {
    modes.push_back({.checked = checked});
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      modes.push_back({.checked = checked, .schedule = ScheduleKind::kPriority, .seed = seed});
    }
  }
  return modes;
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

constexpr std::string_view kBlockSum = R"(
kernel void block_sum(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                      constant uint& count [[buffer(2)]],
                      uint row [[threadgroup_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint3 size [[threads_per_threadgroup]]) {
  threadgroup float scratch[32];
  float sum = 0.0f;
  for (uint i = tid; i < count; i += size.x) sum += x[row * count + i];
  sum = simd_sum(sum);
  if (lane == 0) scratch[sg] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    float total = 0.0f;
    for (uint g = 0; g < (size.x + 31) / 32; ++g) total += scratch[g];
    out[row] = total;
  }
}
)";

TEST(SimtExecution, SumsAcrossSimdGroups) {
  for (const auto& mode : all_modes()) {
    SimtDevice device(mode);
    for (const std::uint32_t threads : {1u, 5u, 32u, 33u, 256u, 1024u}) {
      std::vector<float> x = counting(300), out(3, 0.0f);
      const auto done =
          run_kernel(device, test_source(kBlockSum), "block_sum", {x, out, 100u}, {3}, {threads});
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(out, (std::vector<float>{5050.0f, 15050.0f, 25050.0f})) << threads << " threads";
    }
  }
}

TEST(SimtExecution, IndicesOfAThreeDimensionalGrid) {
  constexpr std::string_view kSource = R"(
kernel void indices(device float* out [[buffer(0)]], uint3 at [[thread_position_in_grid]],
                    uint3 grid [[threadgroups_per_grid]], ushort3 size [[threads_per_threadgroup]]) {
  const uint width = grid.x * size.x, height = grid.y * size.y;
  out[(at.z * height + at.y) * width + at.x] = float(at.x + 10 * at.y + 100 * at.z);
}
)";
  SimtDevice device;
  std::vector<float> out(6 * 4 * 2);
  const auto done =
      run_kernel(device, test_source(kSource), "indices", {out}, {2, 2, 1}, {3, 2, 2});
  ASSERT_TRUE(done) << done.error().message;
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<float>(i % 6 + 10 * (i / 6 % 4) + 100 * (i / 24)));
  }
}

TEST(SimtExecution, ThreadgroupMemoryIsReusedBetweenBarriers) {
  constexpr std::string_view kSource = R"(
kernel void rotate_twice(device float* x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  float value = x[tid];
  for (uint round = 0; round < 2; ++round) {
    tile[tid] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = tile[(tid + 1) % 128];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  x[tid] = value;
}
)";
  for (const auto& mode : all_modes()) {
    SimtDevice device(mode);
    std::vector<float> x = counting(128);
    const auto done = run_kernel(device, test_source(kSource), "rotate_twice", {x}, {1}, {128});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(x[0], 3.0f);
    EXPECT_EQ(x[127], 2.0f);
  }
}

TEST(SimtExecution, ExchangeWithinASimdGroupNeedsOnlyItsOwnBarrier) {
  constexpr std::string_view kSource = R"(
kernel void neighbours(device float* x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[4 * 32];
  threadgroup float* own = tile + sg * 32;
  own[lane] = x[tid];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  x[tid] = own[lane ^ 1];
}
)";
  for (const auto& mode : all_modes()) {
    SimtDevice device(mode);
    std::vector<float> x = counting(128);
    const auto done = run_kernel(device, test_source(kSource), "neighbours", {x}, {1}, {128});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(x[0], 2.0f);
    EXPECT_EQ(x[127], 127.0f);
  }
}

TEST(SimtExecution, AtomicsOfAllThreadgroupsAddUp) {
  constexpr std::string_view kSource = R"(
kernel void histogram(device const float* x [[buffer(0)]], device atomic_uint* bins [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[uint(x[i]) % 3], 1u, memory_order_relaxed);
}
)";
  SimtDevice device;
  std::vector<float> x = counting(96), bins(3, 0.0f);
  const auto done = run_kernel(device, test_source(kSource), "histogram", {x, bins}, {3}, {32});
  ASSERT_TRUE(done) << done.error().message;
  for (const float bin : bins) EXPECT_EQ(std::bit_cast<std::uint32_t>(bin), 32u);
}

TEST(SimtExecution, BuffersAreFreeToReadAndWriteInLaterDispatches) {
  SimtDevice device;
  const auto library = value_or_throw(device.compile(test_source(R"(
kernel void double_it(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  out[i] = 2.0f * x[i];
}
)")));
  const auto pipeline = value_or_throw(device.make_pipeline(*library, "double_it"));
  const auto a = value_or_throw(device.make_buffer(64 * sizeof(float)));
  const auto b = value_or_throw(device.make_buffer(64 * sizeof(float)));
  const std::vector<float> ones(64, 1.0f);
  std::memcpy(a->contents().data(), ones.data(), 64 * sizeof(float));
  const auto commands = device.make_commands();
  commands->set_pipeline(*pipeline);
  for (int round = 0; round < 4; ++round) {
    commands->set_buffer(0, round % 2 == 0 ? *a : *b, 0);
    commands->set_buffer(1, round % 2 == 0 ? *b : *a, 0);
    commands->dispatch({2}, {32});
  }
  const auto done = commands->commit_and_wait();
  ASSERT_TRUE(done) << done.error().message;
  float last = 0.0f;
  std::memcpy(&last, a->contents().data() + 63 * sizeof(float), sizeof(float));
  EXPECT_EQ(last, 16.0f);
}

}  // namespace
}  // namespace lattice::metal
