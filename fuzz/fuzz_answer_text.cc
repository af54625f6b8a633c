// An answer's text in pieces, through stop strings and the split into thought and content.
//
// The first byte says how the prompt left the thinking, the second one how the text is cut; the
// first line of the rest holds the stop strings, separated by '|'; what follows is the text.
#include <algorithm>
#include <vector>

#include "base/result.h"
#include "engine/generation/stop_matcher.h"
#include "engine/generation/thinking_splitter.h"
#include "fuzz_support.h"
#include "lattice/error.h"

namespace lattice {
namespace {

/// Pieces of 1, `most` and what is between.
std::vector<std::string_view> cut(std::string_view text, std::size_t most) {
  std::vector<std::string_view> pieces;
  std::size_t size = 1;
  while (!text.empty()) {
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(pieces.back().size());
    size = size % most + 1;
  }
  return pieces;
}

/// The text before the match that is complete first, of those the longest.
std::string_view before_stop(std::string_view text, const std::vector<std::string>& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

std::string check_stops(std::string_view text, const std::vector<std::string>& stops,
                        std::size_t most) {
  StopMatcher matcher(stops);
  std::string got;
  for (const std::string_view piece : cut(text, most)) got += matcher.push(piece);
  const bool stopped = matcher.stopped();
  got += matcher.finish();
  const std::string_view expected = before_stop(text, stops);
  fuzz_check(got == expected);
  fuzz_check(stopped == (expected.size() < text.size()));
  return got;
}

struct Split {
  std::string reasoning, content;
  bool operator==(const Split&) const = default;

  void add(const std::vector<AnswerPiece>& pieces) {
    fuzz_check(pieces.size() <= 2);
    for (const AnswerPiece& piece : pieces) {
      fuzz_check(!piece.text.empty());
      const bool thought = piece.kind == AnswerPiece::Kind::kReasoning;
      fuzz_check(!thought || content.empty());  // a thought comes first
      (thought ? reasoning : content) += piece.text;
    }
  }
};

Split split(std::string_view text, ThinkingStart start, std::size_t most) {
  ThinkingSplitter splitter(start);
  Split got;
  for (const std::string_view piece : cut(text, most)) got.add(splitter.push(piece));
  got.add(splitter.finish());
  return got;
}

void check_split(std::string_view text, ThinkingStart start, std::size_t most) {
  const Split whole = split(text, start, text.size() + 1);
  fuzz_check(split(text, start, most) == whole);
  fuzz_check(split(text, start, 1) == whole);
  fuzz_check(whole.reasoning.size() + whole.content.size() <= text.size());
  fuzz_check(text.ends_with(whole.content));
  if (start == ThinkingStart::kClosed) fuzz_check(whole.content == text);
}

void run(std::string_view input) {
  if (input.size() < 2) return;
  const auto start = static_cast<ThinkingStart>(static_cast<unsigned char>(input[0]) % 3);
  const std::size_t most = static_cast<unsigned char>(input[1]) % 16 + 1;
  input.remove_prefix(2);
  std::string_view line = input.substr(0, input.find('\n'));
  const std::string_view text = input.substr(std::min(input.size(), line.size() + 1));
  std::vector<std::string> stops;
  while (!line.empty()) {
    stops.emplace_back(line.substr(0, line.find('|')));
    line.remove_prefix(std::min(line.size(), stops.back().size() + 1));
  }
  std::string kept(text);
  try {
    kept = check_stops(text, stops, most);
  } catch (const LatticeError& error) {
    fuzz_check(error.code() == ErrorCode::kInvalidArgument);  // empty, or not UTF-8
  }
  check_split(kept, start, most);
  check_split(text, start, most);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lattice::run(lattice::fuzz_text(data, size));
  return 0;
}
