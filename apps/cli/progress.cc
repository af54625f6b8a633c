#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace lattice::cli {

Progress::Progress(bool quiet) : visible_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_) {
    draw();
    std::fputc('\n', stderr);
  }
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::advance(std::size_t rows, std::size_t tokens) {
  rows_ += rows;
  tokens_ += tokens;
  if (!visible_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_draw_ < std::chrono::milliseconds(100)) return;
  last_draw_ = now;
  draw();
}

void Progress::draw() {
  const double rate = static_cast<double>(tokens_) / std::max(seconds(), 1e-9);
  const std::string line =
      fmt::format("\r\x1b[K{} texts, {} tokens, {:.0f} tokens/s", rows_, tokens_, rate);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace lattice::cli
