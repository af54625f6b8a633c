#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace lattice {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      break;
  }
  return "off";
}

LogLevel level_from_environment() {
  const char* value = std::getenv("LATTICE_LOG");
  if (value == nullptr) return LogLevel::kWarning;
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    if (level_name(level) == value) return level;
  }
  return LogLevel::kWarning;
}

void write_to_stderr(LogLevel level, std::string_view message) {
  const std::string line = fmt::format("lattice: {}: {}\n", level_name(level), message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

struct LogState {
  std::mutex mutex;
  LogSink sink = write_to_stderr;
  std::atomic<LogLevel> level = level_from_environment();
};

LogState& state() {
  static LogState instance;
  return instance;
}

}  // namespace

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(state().mutex);
  state().sink = sink ? std::move(sink) : write_to_stderr;
}

void set_log_level(LogLevel level) { state().level = level; }

LogLevel log_level() { return state().level; }

void log_message(LogLevel level, std::string_view message) {
  if (level < log_level()) return;
  const std::lock_guard lock(state().mutex);
  state().sink(level, message);
}

}  // namespace lattice
