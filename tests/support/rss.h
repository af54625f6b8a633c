#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace lattice {

/// Whether the system is one of those that the functions below work on.
inline bool knows_process_memory() { return std::ifstream("/proc/self/status").good(); }

/// A "kB" line of /proc/self/status in bytes: "VmRSS" (resident now), "VmHWM" (its peak since the
/// start or the last reset_peak_rss()), "RssAnon", "RssFile".
inline std::uint64_t process_memory_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1)) * 1024;
  }
  ADD_FAILURE() << "/proc/self/status has no " << field;
  return 0;
}

/// Resident memory now. Mapped file pages count while they are resident.
inline std::uint64_t current_rss_bytes() { return process_memory_bytes("VmRSS"); }

/// The highest resident memory since the start or the last reset_peak_rss().
inline std::uint64_t peak_rss_bytes() { return process_memory_bytes("VmHWM"); }

/// Makes peak_rss_bytes() start again from the current value.
inline void reset_peak_rss() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;
  EXPECT_TRUE(clear.good()) << "cannot reset the peak of resident memory";
}

}  // namespace lattice
