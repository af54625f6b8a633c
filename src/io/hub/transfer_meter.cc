#include "io/hub/transfer_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lattice {
namespace {

constexpr std::chrono::seconds kWindow{5};

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.95 would print as 1000.0.
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_seconds(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

void TransferMeter::update(const PullProgress& progress, Clock::time_point now) {
  file_ = progress.file;
  done_ = progress.bytes_done;
  total_ = progress.bytes_total;
  // Many updates fall into one moment; a few samples a second describe the speed well enough.
  constexpr std::chrono::milliseconds kSpacing{50};
  if (samples_.size() >= 2 && now - samples_[samples_.size() - 2].time < kSpacing) {
    samples_.back() = {now, progress.bytes_received};
  } else {
    samples_.push_back({now, progress.bytes_received});
  }
  while (samples_.size() > 2 && now - samples_[1].time >= kWindow) samples_.pop_front();
}

double TransferMeter::bytes_per_second() const {
  if (samples_.size() < 2) return 0;
  const std::chrono::duration<double> span = samples_.back().time - samples_.front().time;
  const auto bytes = static_cast<double>(samples_.back().received - samples_.front().received);
  return span.count() > 0 ? bytes / span.count() : 0;
}

std::string TransferMeter::line(std::size_t columns) const {
  const std::uint64_t percent =
      total_ == 0 ? 100
                  : static_cast<std::uint64_t>(100.0 * static_cast<double>(done_) /
                                               static_cast<double>(total_));
  std::string numbers =
      fmt::format("  {} of {} ({} %)", human_bytes(done_), human_bytes(total_), percent);
  if (const double speed = bytes_per_second(); speed >= 1) {
    const double left = static_cast<double>(total_ - std::min(done_, total_)) / speed;
    numbers += fmt::format("  {}/s", human_bytes(static_cast<std::uint64_t>(speed)));
    // A speed near nothing says nothing about the end.
    if (left < 360'000) {
      numbers += fmt::format("  {} left", human_seconds(static_cast<std::uint64_t>(left + 0.5)));
    }
  }
  const std::size_t room = columns > numbers.size() ? columns - numbers.size() : 0;
  return (file_.substr(0, room) + numbers).substr(0, columns);
}

}  // namespace lattice
