#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lattice {

/// Ends a text that comes in pieces at the first of some stop strings:
///
///   StopMatcher matcher(stops);
///   while (!matcher.stopped()) write(matcher.push(piece));
///   if (!matcher.stopped()) write(matcher.finish());
///
/// The match that is complete first wins, of those complete with the same byte the longest: nothing
/// is generated beyond the end of a stop string, and the result does not depend on where the pieces
/// end. What is written is the text before the match; an end of the text that may begin a stop
/// string is held back, every other byte is returned at once, and each once. Source: Knuth, Morris
/// and Pratt, "Fast pattern matching in strings", 1977, once per stop string: time is linear in the
/// text times the number of stop strings.
///
/// Not thread-safe: one matcher per text.
class StopMatcher {
 public:
  /// No stop strings: everything passes. Throws LatticeError(kInvalidArgument) naming the stop
  /// string that is empty or not UTF-8.
  explicit StopMatcher(std::span<const std::string> stops);

  /// Takes the next piece, UTF-8, and returns the text that no stop string can begin in any more
  /// (UTF-8 too); after a match nothing.
  std::string push(std::string_view piece);

  /// Returns what was held back, once: the text ends here without a match.
  std::string finish();

  bool stopped() const { return matched_.has_value(); }
  /// The index of the stop string that was found (of equal ones, the first).
  const std::optional<std::size_t>& matched() const { return matched_; }

 private:
  /// One stop string and how much of it the text ends with.
  struct Progress {
    std::string stop;
    std::vector<std::size_t> fallback;  // [i]: length of the longest border of stop[0..i]
    std::size_t length = 0;

    void advance(char byte);
  };

  void advance(char byte);
  std::string take(std::size_t size);

  std::vector<Progress> progress_;
  std::string text_;  // from held_ on: not returned yet
  std::size_t held_ = 0;
  std::optional<std::size_t> matched_;
};

}  // namespace lattice
