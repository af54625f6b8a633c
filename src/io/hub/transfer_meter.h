#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "io/hub/file_download.h"

namespace lattice {

/// "512 B", "1.5 kB", "90.9 MB", "4.2 GB": powers of 1000, as download pages count.
std::string human_bytes(std::uint64_t bytes);

/// "8 s", "2 min 5 s", "1 h 2 min".
std::string human_seconds(std::uint64_t seconds);

/// Measures the speed of a pull and words its state in one line. Not thread-safe.
class TransferMeter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Notes the state at `now`, which must not run backwards.
  void update(const PullProgress& progress, Clock::time_point now);

  /// Bytes per second over the last few seconds; what was on the disk before does not count.
  double bytes_per_second() const;

  /// "model.safetensors  45.2 MB of 90.9 MB (49 %)  11.3 MB/s  4 s left", at most `columns`
  /// characters: the file's name is cut first.
  std::string line(std::size_t columns) const;

 private:
  struct Sample {
    Clock::time_point time;
    std::uint64_t received;
  };
  std::deque<Sample> samples_;
  std::string file_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace lattice
