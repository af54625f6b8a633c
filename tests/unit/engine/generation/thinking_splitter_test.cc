#include "engine/generation/thinking_splitter.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

using Kind = AnswerPiece::Kind;

/// An answer: its thought and its content.
struct Split {
  std::string reasoning, content;
  bool operator==(const Split&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Split& split) {
  return out << "[" << split.reasoning << "][" << split.content << "]";
}

void append(const std::vector<AnswerPiece>& pieces, Split& split) {
  EXPECT_LE(pieces.size(), 2u);
  for (const AnswerPiece& piece : pieces) {
    EXPECT_FALSE(piece.text.empty());
    const bool is_reasoning = piece.kind == Kind::kReasoning;
    if (is_reasoning) {
      EXPECT_EQ(split.content, "") << "a thought after content";
    }
    (is_reasoning ? split.reasoning : split.content) += piece.text;
  }
}

Split split(ThinkingStart start, const std::vector<std::string>& pieces) {
  ThinkingSplitter splitter(start);
  Split result;
  for (const std::string& piece : pieces) append(splitter.push(piece), result);
  append(splitter.finish(), result);
  return result;
}

TEST(ThinkingSplitter, FindsHowThePromptEnds) {
  EXPECT_EQ(find_thinking_start("<|im_start|>assistant\n<think>\n"), ThinkingStart::kOpened);
  EXPECT_EQ(find_thinking_start("assistant\n<think>\n\n</think>\n\n"), ThinkingStart::kClosed);
  EXPECT_EQ(find_thinking_start("<think> is a tag<|im_end|>\nassistant\n"), ThinkingStart::kUnset);
  EXPECT_EQ(find_thinking_start(""), ThinkingStart::kUnset);
  EXPECT_EQ(find_thinking_start("\n \n"), ThinkingStart::kUnset);
}

TEST(ThinkingSplitter, ThePromptOpenedTheThought) {
  const auto opened = [](const std::string& text) { return split(ThinkingStart::kOpened, {text}); };
  EXPECT_EQ(opened("\nI add.\n\n2+2\n</think>\n\n4\n"), (Split{"I add.\n\n2+2", "4\n"}));
  EXPECT_EQ(opened("</think>4"), (Split{"", "4"}));
  EXPECT_EQ(opened("\n\n</think>\n\n"), (Split{"", ""}));
  EXPECT_EQ(opened("<think>\nagain</think>x"), (Split{"again", "x"}));
  EXPECT_EQ(opened("a<think>b</think>c"), (Split{"a<think>b", "c"}));
}

TEST(ThinkingSplitter, AThoughtThatIsCutOffStaysAThought) {
  EXPECT_EQ(split(ThinkingStart::kOpened, {"The user", " asks"}), (Split{"The user asks", ""}));
  EXPECT_EQ(split(ThinkingStart::kOpened, {"so\n</thi"}), (Split{"so\n</thi", ""}));
  EXPECT_EQ(split(ThinkingStart::kOpened, {"\n<thi"}), (Split{"<thi", ""}));
  EXPECT_EQ(split(ThinkingStart::kUnset, {"<think>\nso"}), (Split{"so", ""}));
}

TEST(ThinkingSplitter, ThinkingIsOff) {
  for (const std::string text : {"4", "\n4", "<think>x</think>", "a</think>b", ""}) {
    EXPECT_EQ(split(ThinkingStart::kClosed, {text}), (Split{"", text}));
  }
}

TEST(ThinkingSplitter, TheModelOpensTheThoughtItself) {
  const auto unset = [](const std::string& text) { return split(ThinkingStart::kUnset, {text}); };
  EXPECT_EQ(unset("\n<think>\nhm\n</think>\n\nyes"), (Split{"hm", "yes"}));
  EXPECT_EQ(unset("\n\nplain"), (Split{"", "\n\nplain"}));
  EXPECT_EQ(unset("\n<thin"), (Split{"", "\n<thin"}));
  EXPECT_EQ(unset("The tag <think> and </think>"), (Split{"", "The tag <think> and </think>"}));
}

TEST(ThinkingSplitter, TagsInTheContentAreText) {
  EXPECT_EQ(split(ThinkingStart::kOpened, {"t</think>\n\nuse </think>\n\nor <think>\n"}),
            (Split{"t", "use </think>\n\nor <think>\n"}));
  EXPECT_EQ(split(ThinkingStart::kOpened, {"t</think></think>c"}), (Split{"t", "</think>c"}));
}

TEST(ThinkingSplitter, TextComesAtOnce) {
  ThinkingSplitter splitter(ThinkingStart::kOpened);
  using Pieces = std::vector<AnswerPiece>;
  EXPECT_TRUE(splitter.is_thinking());
  EXPECT_EQ(splitter.push("a\n"), (Pieces{{Kind::kReasoning, "a"}}));
  EXPECT_EQ(splitter.push("b <"), (Pieces{{Kind::kReasoning, "\nb "}}));
  EXPECT_EQ(splitter.push("</"), (Pieces{{Kind::kReasoning, "<"}}));
  EXPECT_EQ(splitter.push("think>"), (Pieces{}));
  EXPECT_FALSE(splitter.is_thinking());
  EXPECT_EQ(splitter.push("\n"), (Pieces{}));
  EXPECT_EQ(splitter.push("\nc\n<"), (Pieces{{Kind::kContent, "c\n<"}}));
  ThinkingSplitter both(ThinkingStart::kOpened);
  EXPECT_EQ(both.push("t</think>c"), (Pieces{{Kind::kReasoning, "t"}, {Kind::kContent, "c"}}));
}

std::string without_leading_line_feeds(const std::string& text) {
  const std::size_t first = text.find_first_not_of('\n');
  return first == std::string::npos ? "" : text.substr(first);
}

// The definition, on the whole answer.
Split split_whole(ThinkingStart start, const std::string& text) {
  if (start == ThinkingStart::kClosed) return {"", text};
  std::string rest = without_leading_line_feeds(text);
  if (rest.starts_with("<think>")) {
    rest = without_leading_line_feeds(rest.substr(7));
  } else if (start == ThinkingStart::kUnset) {
    return {"", text};
  }
  const std::size_t end = rest.find("</think>");
  if (end == std::string::npos) return {rest, ""};
  const std::size_t last = rest.substr(0, end).find_last_not_of('\n');
  return {last == std::string::npos ? "" : rest.substr(0, last + 1),
          without_leading_line_feeds(rest.substr(end + 8))};
}

TEST(ThinkingSplitter, EverySplitPointGivesTheSame) {
  static const std::vector<std::string> kParts = {"<think>", "</think>", "\n",     "\n", "<",
                                                  "</",      "think>",   "</thin", "a",  "é"};
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t n = random() % 10; n > 0; --n) text += kParts[random() % kParts.size()];
    for (const auto start :
         {ThinkingStart::kOpened, ThinkingStart::kClosed, ThinkingStart::kUnset}) {
      const Split expected = split_whole(start, text);
      std::vector<std::string> bytes;
      for (std::size_t at = 0; at < text.size(); ++at) {
        ASSERT_EQ(split(start, {text.substr(0, at), text.substr(at)}), expected) << text;
        bytes.push_back(text.substr(at, 1));
      }
      ASSERT_EQ(split(start, bytes), expected) << text;
    }
  }
}

}  // namespace
}  // namespace lattice
