#include <gtest/gtest.h>

#include "io/hub/transfer_meter.h"

namespace lattice {
namespace {

using std::chrono::milliseconds;

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999'949), "999.9 kB");
  EXPECT_EQ(human_bytes(999'999), "1.0 MB");
  EXPECT_EQ(human_bytes(90'868'376), "90.9 MB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "18446.7 PB");
}

TEST(HumanSeconds, PicksTheUnit) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(125), "2 min 5 s");
  EXPECT_EQ(human_seconds(3725), "1 h 2 min");
}

TEST(TransferMeter, ReportsSpeedAndTimeLeft) {
  TransferMeter meter;
  const auto start = TransferMeter::Clock::now();
  PullProgress progress{"model.safetensors", 50'000'000, 100'000'000, 0};
  meter.update(progress, start);  // half of it was there before
  EXPECT_EQ(meter.bytes_per_second(), 0);
  EXPECT_EQ(meter.line(200), "model.safetensors  50.0 MB of 100.0 MB (50 %)");
  for (int i = 1; i <= 100; ++i) {
    progress.bytes_done += 100'000;
    progress.bytes_received += 100'000;
    meter.update(progress, start + milliseconds(10 * i));
  }
  EXPECT_NEAR(meter.bytes_per_second(), 10e6, 1e5);
  EXPECT_EQ(meter.line(200), "model.safetensors  60.0 MB of 100.0 MB (60 %)  10.0 MB/s  4 s left");
  EXPECT_EQ(meter.line(60), "model.safet  60.0 MB of 100.0 MB (60 %)  10.0 MB/s  4 s left");
  EXPECT_LE(meter.line(10).size(), 10u);
}

TEST(TransferMeter, ForgetsTheSpeedOfLongAgo) {
  TransferMeter meter;
  const auto start = TransferMeter::Clock::now();
  PullProgress progress{"f", 0, 1'000'000'000, 0};
  for (int second = 0; second <= 60; ++second) {
    progress.bytes_received += second < 30 ? 1'000'000 : 1000;
    meter.update(progress, start + std::chrono::seconds(second));
  }
  EXPECT_NEAR(meter.bytes_per_second(), 1000, 1);
}

TEST(TransferMeter, AnEmptyTransferIsComplete) {
  TransferMeter meter;
  meter.update({"f", 0, 0, 0}, TransferMeter::Clock::now());
  EXPECT_EQ(meter.line(80), "f  0 B of 0 B (100 %)");
}

}  // namespace
}  // namespace lattice
