#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Receives each message that passes the level. Called under a lock, one message at a time.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Replaces the sink (default: standard error, "lattice: warning: ..."). Thread-safe.
void set_log_sink(LogSink sink);

/// Drops messages below `level` (default: kWarning, or the environment's LATTICE_LOG =
/// debug|info|warning|error|off). Thread-safe.
void set_log_level(LogLevel level);
LogLevel log_level();

/// Hands one message to the sink if its level passes. Thread-safe.
void log_message(LogLevel level, std::string_view message);

template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() <= LogLevel::kInfo) {
    log_message(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace lattice
