#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/result.h"

namespace lattice::jinja {

/// What one rendering may use. A template is a program from a file: these bound its time, its stack
/// and its memory.
struct Limits {
  /// Expressions and statements evaluated, list items copied or compared, and one per 64 bytes of
  /// every string that is built or searched.
  std::uint64_t steps = 10'000'000;
  /// Nested evaluations, 3 or more per macro call inside a macro. The default needs less than
  /// 512 KiB of stack.
  std::uint32_t depth = 500;
  /// Bytes of the output, and of any one string on the way there.
  std::size_t output_bytes = std::size_t{16} << 20;
  /// Numbers in one range(). The default is that of jinja2's sandbox.
  std::uint64_t range_size = 100'000;
};

/// Lists in lists (or tuples, dicts, iterators) that one value may have.
inline constexpr std::uint32_t kMaxValueDepth = 400;

/// A mistake met while rendering: what is an exception in Python. Template::render adds the place
/// and turns it into a LatticeError.
class EvalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void eval_fail(fmt::format_string<Args...> format, Args&&... args) {
  throw EvalError(fmt::format(format, std::forward<Args>(args)...));
}

/// Counts what a rendering uses. Errors: kTooLong, naming the limit.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), steps_(limits.steps) {}

  const Limits& limits() const { return limits_; }

  void step(std::uint64_t count = 1) {
    if (count > steps_) exceeded("steps", limits_.steps);
    steps_ -= count;
  }
  /// Work that is linear in `bytes` of text.
  void step_bytes(std::size_t bytes) { step(bytes / 64); }

  void check_bytes(std::size_t bytes) const {
    if (bytes > limits_.output_bytes) exceeded("output_bytes", limits_.output_bytes);
  }
  /// Throws before `count` items of `bytes_each` are made.
  void check_repeat(std::uint64_t count, std::size_t bytes_each) const {
    if (bytes_each != 0 && count > limits_.output_bytes / bytes_each) {
      exceeded("output_bytes", limits_.output_bytes);
    }
  }

  void enter() {
    if (++depth_ > limits_.depth) {
      --depth_;
      exceeded("depth", limits_.depth);
    }
  }
  void leave() { --depth_; }

  [[noreturn]] static void exceeded(const char* name, std::uint64_t limit) {
    raise(ErrorCode::kTooLong, "[jinja] rendering exceeds the limit {} = {}", name, limit);
  }

 private:
  Limits limits_;
  std::uint64_t steps_;
  std::uint32_t depth_ = 0;
};

/// One level of nesting.
class DepthGuard {
 public:
  explicit DepthGuard(Budget& budget) : budget_(budget) { budget_.enter(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  ~DepthGuard() { budget_.leave(); }

 private:
  Budget& budget_;
};

}  // namespace lattice::jinja
