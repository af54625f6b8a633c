#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lattice::metal::simt {

/// What a program printed, and how it ended.
struct ProcessResult {
  int exit_code = 0;
  std::string output;  ///< standard output and standard error, as they came
};

/// Runs `command` (found through PATH) and waits for it. Thread-safe. Errors: kUnavailable when it
/// cannot be started.
Result<ProcessResult> run_process(const std::vector<std::string>& command);

}  // namespace lattice::metal::simt
