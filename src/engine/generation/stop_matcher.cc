#include "engine/generation/stop_matcher.h"

#include <algorithm>

#include "base/result.h"
#include "text/utf8.h"

namespace lattice {
namespace {

std::vector<std::size_t> borders(std::string_view stop) {
  std::vector<std::size_t> fallback(stop.size(), 0);
  std::size_t length = 0;
  for (std::size_t i = 1; i < stop.size(); ++i) {
    while (length > 0 && stop[i] != stop[length]) length = fallback[length - 1];
    if (stop[i] == stop[length]) ++length;
    fallback[i] = length;
  }
  return fallback;
}

}  // namespace

StopMatcher::StopMatcher(std::span<const std::string> stops) {
  for (const std::string& stop : stops) {
    if (stop.empty()) {
      raise(ErrorCode::kInvalidArgument, "[stop] stop string {} is empty", progress_.size());
    }
    if (const auto bad = find_invalid_utf8(stop)) {
      raise(ErrorCode::kInvalidArgument, "[stop] stop string {} is not UTF-8 at byte {}",
            progress_.size(), *bad);
    }
    progress_.push_back({stop, borders(stop)});
  }
}

void StopMatcher::Progress::advance(char byte) {
  while (length > 0 && stop[length] != byte) length = fallback[length - 1];
  if (stop[length] == byte) ++length;
}

void StopMatcher::advance(char byte) {
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    progress_[i].advance(byte);
    if (progress_[i].length < progress_[i].stop.size()) continue;
    if (!matched_ || progress_[*matched_].length < progress_[i].length) matched_ = i;
  }
}

std::string StopMatcher::push(std::string_view piece) {
  if (stopped()) return {};
  for (std::size_t i = 0; i < piece.size(); ++i) {
    advance(piece[i]);
    if (!stopped()) continue;
    text_ += piece.substr(0, i + 1);
    return take(text_.size() - held_ - progress_[*matched_].length);
  }
  text_ += piece;
  std::size_t longest = 0;
  for (const Progress& progress : progress_) longest = std::max(longest, progress.length);
  return take(text_.size() - held_ - longest);
}

std::string StopMatcher::finish() { return stopped() ? "" : take(text_.size() - held_); }

std::string StopMatcher::take(std::size_t size) {
  std::string text = text_.substr(held_, size);
  held_ += size;
  // What was returned goes when it is the larger part, so that every byte moves a few times at
  // most.
  if (held_ * 2 > text_.size()) {
    text_.erase(0, held_);
    held_ = 0;
  }
  return text;
}

}  // namespace lattice
