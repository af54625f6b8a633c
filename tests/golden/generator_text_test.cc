// How a generation ends, and the text that comes out piece by piece: stop texts, stop tokens,
// characters cut in the middle, callbacks.
#include <gtest/gtest.h>

#include "golden/generator_support.h"
#include "text/utf8.h"

namespace lattice {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";
constexpr std::int32_t kEndOfText = 300, kImStart = 301, kImEnd = 302, kThink = 303;

class GeneratorText : public testing::Test {
 protected:
  Generation say(const Ids& ids, GenerateOptions options) {
    pieces_ = {};
    Generation got = model_.generate_ids(prompt_, options, pieces_.callback());
    expect_pieces_of(pieces_, got.text);
    EXPECT_LE(got.ids.size(), ids.size());
    return got;
  }
  Generation say(const std::string& text, const std::vector<std::string>& stop = {}) {
    const Ids ids = byte_ids(text);
    GenerateOptions options = saying(ids);
    options.stop = stop;
    return say(ids, options);
  }

  Model model_ = load_generation_model("tied");
  Ids prompt_ = {270, 271, 272};
  Pieces pieces_;
};

TEST_F(GeneratorText, SaysWhatTheTestsWant) {
  const Generation got = say("The quick");
  EXPECT_EQ(got.text, "The quick");
  EXPECT_EQ(got.ids, byte_ids("The quick"));
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
  EXPECT_EQ(pieces_.list.size(), 9u);  // each at once
}

TEST_F(GeneratorText, AStopTextEndsTheTextBeforeIt) {
  const Generation got = say("The quick", {"qui"});
  EXPECT_EQ(got.text, "The ");
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
  EXPECT_EQ(got.ids, byte_ids("The qui"));
  EXPECT_EQ(got.logprobs.size(), got.ids.size());
}

// Every part of a text as the stop text, found over token borders: no byte of it gets out.
TEST_F(GeneratorText, EveryStopText) {
  const std::string text = "abcdefghij";
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    for (std::size_t size = 1; begin + size <= text.size(); ++size) {
      const Generation got = say(text, {"never", text.substr(begin, size), "zz"});
      EXPECT_EQ(got.text, text.substr(0, begin));
      EXPECT_EQ(got.ids.size(), begin + size);
      EXPECT_EQ(got.finish_reason, FinishReason::kStop);
    }
  }
}

TEST_F(GeneratorText, WhatOnlyBeginsLikeAStopTextComesOut) {
  EXPECT_EQ(say("abcdef", {"bcx", "cdefg", "f "}).text, "abcdef");
  EXPECT_EQ(pieces_.list, (std::vector<std::string>{"a", "b", "cdef"}));
}

TEST_F(GeneratorText, StopTextsOfRealTokens) {
  const Model model = load_generation_model("untied");
  const Generation whole = model.generate_ids(prompt_, endless(40));
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < whole.text.size(); ++begin) {
    for (std::size_t size = 1; size < 6 && begin + size <= whole.text.size(); ++size) {
      const std::string stop = whole.text.substr(begin, size);
      if (find_invalid_utf8(stop)) continue;
      GenerateOptions options = endless(40);
      options.stop = std::vector<std::string>{stop};
      Pieces pieces;
      const Generation got = model.generate_ids(prompt_, options, pieces.callback());
      expect_pieces_of(pieces, got.text);
      EXPECT_EQ(got.text, whole.text.substr(0, whole.text.find(stop)));
      EXPECT_EQ(got.finish_reason, FinishReason::kStop);
      EXPECT_TRUE(std::equal(got.ids.begin(), got.ids.end(), whole.ids.begin()));
      ++found;
    }
  }
  EXPECT_GT(found, 50u);
}

TEST_F(GeneratorText, AStopTokenIsInTheIdsButNotInTheText) {
  const Ids ids = {64, 65, kImEnd, 66};
  GenerateOptions options = saying(ids);
  options.stop_token_ids.reset();  // as the files say
  const Generation got = say(ids, options);
  EXPECT_EQ(got.ids, (Ids{64, 65, kImEnd}));
  EXPECT_EQ(got.text, model_.tokenizer().decode(Ids{64, 65}));
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
  // Both of generation_config.json's list end it; an ordinary token can too.
  GenerateOptions other = saying({64, kEndOfText, 66});
  other.stop_token_ids.reset();
  EXPECT_EQ(say({64, kEndOfText, 66}, other).ids.size(), 2u);
  other.stop_token_ids = Ids{66};
  other.skip_special_tokens = false;
  const Generation ordinary = say({64, kEndOfText, 66}, other);
  EXPECT_EQ(ordinary.finish_reason, FinishReason::kStop);
  EXPECT_EQ(ordinary.text, model_.tokenizer().decode(Ids{64, kEndOfText}, false));
}

TEST_F(GeneratorText, SpecialTokensInTheText) {
  const Ids ids = {64, kImStart, kThink, 65};
  GenerateOptions options = saying(ids);
  const std::string a = model_.tokenizer().decode(Ids{64}), b = model_.tokenizer().decode(Ids{65});
  EXPECT_EQ(say(ids, options).text, a + "<think>" + b);
  options.skip_special_tokens = false;
  EXPECT_EQ(say(ids, options).text, a + "<|im_start|><think>" + b);
}

TEST_F(GeneratorText, ACharacterOverSeveralTokensComesWhole) {
  const std::string emoji = "\xF0\x9F\x98\x80";
  EXPECT_EQ(say("a" + emoji + "b").text, "a" + emoji + "b");
  EXPECT_EQ(pieces_.list, (std::vector<std::string>{"a", emoji, "b"}));
}

TEST_F(GeneratorText, AnEndInTheMiddleOfACharacterIsU_FFFD) {
  EXPECT_EQ(say("a\xF0\x9F\x98").text, std::string("a") + kReplacement);
  // The same before a stop token.
  Ids ids = byte_ids("a\xF0\x9F");
  ids.push_back(kImEnd);
  GenerateOptions options = saying(ids);
  options.stop_token_ids = Ids{kImEnd};
  const Generation got = say(ids, options);
  EXPECT_EQ(got.text, std::string("a") + kReplacement);
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
}

TEST_F(GeneratorText, AStopTextOfOneCharacterOverSeveralTokens) {
  const std::string emoji = "\xF0\x9F\x98\x80";
  const Generation got = say("a" + emoji + "b", {emoji});
  EXPECT_EQ(got.text, "a");
  EXPECT_EQ(got.ids.size(), 5u);
  // What the end makes of a cut character may be a stop text as well.
  EXPECT_EQ(say("a\xF0\x9F", {kReplacement}).finish_reason, FinishReason::kStop);
}

TEST_F(GeneratorText, MaxTokensAndMaxContext) {
  EXPECT_EQ(model_.generate_ids(prompt_, endless(1)).ids.size(), 1u);
  GenerateOptions options = endless(100);
  options.max_context = 20;
  const Generation got = model_.generate_ids(prompt_, options);
  EXPECT_EQ(got.ids.size(), 17u);
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
  options.max_context = 4;
  EXPECT_EQ(model_.generate_ids(prompt_, options).ids.size(), 1u);
}

TEST_F(GeneratorText, ACallbackCanEndIt) {
  for (const std::size_t after : {1u, 3u}) {
    Pieces pieces;
    const Generation got =
        model_.generate_ids(prompt_, saying(byte_ids("abcdef")), [&](std::string_view piece) {
          pieces.list.emplace_back(piece);
          return pieces.list.size() < after;
        });
    EXPECT_EQ(got.finish_reason, FinishReason::kCancelled);
    EXPECT_EQ(got.ids.size(), after);
    EXPECT_EQ(got.text, std::string("abcdef").substr(0, after));
    EXPECT_EQ(pieces.joined(), got.text);  // and it was not called again
  }
  EXPECT_EQ(finish_reason_name(FinishReason::kCancelled), "cancelled");
}

TEST_F(GeneratorText, AnExceptionOfACallbackComesThrough) {
  EXPECT_THROW(model_.generate_ids(prompt_, endless(5),
                                   [](std::string_view) -> bool { throw std::domain_error("x"); }),
               std::domain_error);
}

}  // namespace
}  // namespace lattice
