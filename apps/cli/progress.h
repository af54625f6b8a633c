#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace lattice::cli {

/// A line on standard error, redrawn at most ten times a second: rows, tokens and speed so far.
/// Silent when standard error is not a terminal or `quiet` is set.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::size_t rows, std::size_t tokens);
  std::size_t tokens() const { return tokens_; }
  double seconds() const;

 private:
  void draw();

  using Clock = std::chrono::steady_clock;
  bool visible_;
  bool drawn_ = false;
  std::size_t rows_ = 0;
  std::size_t tokens_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_{};
};

}  // namespace lattice::cli
