#include "engine/generation/stop_matcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "lattice/error.h"
#include "support/sanitizer.h"
#include "text/utf8.h"

namespace lattice {
namespace {

using Strings = std::vector<std::string>;

// Pieces as they are returned, the rest last unless a stop string was found.
Strings run(const Strings& stops, const Strings& pieces) {
  StopMatcher matcher(stops);
  Strings out;
  for (const std::string& piece : pieces) out.push_back(matcher.push(piece));
  if (!matcher.stopped()) out.push_back(matcher.finish());
  return out;
}

TEST(StopMatcher, HoldsBackWhatMayBeginAStop) {
  EXPECT_EQ(run({"END"}, {"the E", "N", "TRY E", "ND more", "."}),
            (Strings{"the ", "", "ENTRY ", "", ""}));
  EXPECT_EQ(run({"END"}, {"the E", "N"}), (Strings{"the ", "", "EN"}));
  EXPECT_EQ(run({}, {"a", "b"}), (Strings{"a", "b", ""}));
  EXPECT_EQ(run({"aab"}, {"a", "a", "a", "a", "b"}), (Strings{"", "", "a", "a", ""}));
}

TEST(StopMatcher, AMatchMayBeginInsideAFailedOne) {
  EXPECT_EQ(run({"aabaaac"}, {"aabaaabaaac"}), (Strings{"aaba"}));
}

TEST(StopMatcher, EachByteOnceWhenAStopPartlyMatches) {
  EXPECT_EQ(run({"\n", "Anna:"}, {"Anna", " says", " hi\n", "more"}),
            (Strings{"", "Anna says", " hi", ""}));
}

TEST(StopMatcher, TheOutputMayBeginWithAStop) {
  EXPECT_EQ(run({"\n\n"}, {"\n\nabc"}), (Strings{""}));
  EXPECT_EQ(run({"abc"}, {"ab", "c"}), (Strings{"", ""}));
}

TEST(StopMatcher, FirstToBeCompleteThenTheLongest) {
  const auto matched = [](const Strings& stops, const std::string& text) {
    StopMatcher matcher(stops);
    const std::string before = matcher.push(text);
    return before + "|" + stops[matcher.matched().value()];
  };
  EXPECT_EQ(matched({"abcd", "bc"}, "xabcd"), "xa|bc");
  EXPECT_EQ(matched({"c", "bc", "abc"}, "xabc"), "x|abc");
  EXPECT_EQ(matched({"ab", "abc"}, "abc"), "|ab");
  StopMatcher equal(Strings{"x", "y", "y"});
  EXPECT_EQ(equal.push("ay"), "a");
  EXPECT_EQ(equal.matched(), 1u);
}

TEST(StopMatcher, PiecesStayUtf8) {
  EXPECT_EQ(run({"é€"}, {"aé", "é", "€"}), (Strings{"a", "é", ""}));
  EXPECT_EQ(run({"€x"}, {"€", "é"}), (Strings{"", "€é", ""}));
}

TEST(StopMatcher, RefusesStopsThatCannotBe) {
  for (const Strings& stops : {Strings{"a", ""}, Strings{"a", "\xC3"}}) {
    try {
      const StopMatcher matcher(stops);
      ADD_FAILURE() << "accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("stop string 1 is"), std::string::npos)
          << error.what();
    }
  }
}

// What must be returned at once of `text`: all but the longest end that begins a stop string.
std::size_t num_certain(const Strings& stops, const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    for (std::size_t n = 1; n < stop.size() && n <= text.size(); ++n) {
      if (text.ends_with(stop.substr(0, n))) longest = std::max(longest, n);
    }
  }
  return text.size() - longest;
}

// The text before the match, by looking at every beginning of the whole text.
std::optional<std::string> search_whole(const Strings& stops, const std::string& text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t length = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) length = std::max(length, stop.size());
    }
    if (length > 0) return text.substr(0, end - length);
  }
  return std::nullopt;
}

std::string random_text(std::mt19937_64& random, std::size_t max_length, std::size_t min_length) {
  static const Strings kCharacters = {"a", "b", "a", "b", "a", "é"};
  std::string text;
  const std::size_t length = min_length + random() % (max_length - min_length + 1);
  for (std::size_t i = 0; i < length; ++i) text += kCharacters[random() % kCharacters.size()];
  return text;
}

TEST(StopMatcher, AgreesWithASearchOfTheWholeText) {
  std::mt19937_64 random(1);
  int num_stopped = 0;
  for (int i = 0; i < 20'000; ++i) {
    Strings stops;
    for (std::size_t n = random() % 4; n > 0; --n) stops.push_back(random_text(random, 9, 1));
    StopMatcher matcher(stops);
    std::string all, returned;
    for (int piece = 0; piece < 8 && !matcher.stopped(); ++piece) {
      const std::string text = random_text(random, 4, 0);
      const std::string out = matcher.push(text);
      all += text;
      returned += out;
      ASSERT_FALSE(find_invalid_utf8(out));
      if (!matcher.stopped()) {
        ASSERT_EQ(returned, all.substr(0, num_certain(stops, all)));
      }
    }
    const auto expected = search_whole(stops, all);
    ASSERT_EQ(matcher.stopped(), expected.has_value()) << all;
    EXPECT_EQ(returned + matcher.finish(), expected.value_or(all));
    EXPECT_EQ(matcher.finish(), "");
    if (matcher.stopped()) {
      EXPECT_EQ(matcher.push("after"), "");
    }
    num_stopped += matcher.stopped() ? 1 : 0;
  }
  EXPECT_GT(num_stopped, 5000);
  EXPECT_LT(num_stopped, 15'000);
}

TEST(StopMatcher, TakesLinearTime) {
  const Strings stops = {std::string(400'000, 'a') + "b"};
  StopMatcher matcher(stops);
  const auto start = std::chrono::steady_clock::now();
  std::size_t returned = 0;
  for (int i = 0; i < 1'000'000; ++i) returned += matcher.push("a").size();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(returned, 600'000u);
  EXPECT_LT(elapsed.count(), kSanitized ? 60 : 10);  // quadratic: minutes
}

}  // namespace
}  // namespace lattice
