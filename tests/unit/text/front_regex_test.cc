#include <gtest/gtest.h>

#include <random>

#include "text/regex/code_point_set.h"
#include "text/regex/pattern.h"
#include "text/regex/properties.h"
#include "text/regex/translator.h"
#include "text/regex/word_scanner.h"
#include "text/utf8.h"

namespace lattice::regex {
namespace {

const char* const kKnownExpressions[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};

std::vector<ByteRange> all_matches(const Pattern& pattern, std::string_view text) {
  std::vector<ByteRange> matches;
  pattern.find_all(text, matches);
  return matches;
}

/// Strings in which characters of every class of the expressions meet.
std::string random_text(std::mt19937& random) {
  constexpr char32_t kCommon[] =
      U"aeZst 'rvlmdLLSEREVE  \n\r\t19.,-_\u0301\u0903\u00A0\u3000\u0660"
      U"\u00E9\u4E2D\u017F\u212A\u2028\u2167\u20AC\u200B\U0001F600";
  std::string text;
  const std::size_t length = random() % 30;
  for (std::size_t i = 0; i < length; ++i) {
    char32_t c = kCommon[random() % (std::size(kCommon) - 1)];
    if (random() % 16 == 0) c = static_cast<char32_t>(random() % 0x110000);
    if (c < 0xD800 || c >= 0xE000) append_utf8(text, c);
  }
  return text;
}

TEST(WordScanner, EqualsTheRegularExpressionItStandsFor) {
  std::mt19937 random(1);
  for (const char* expression : kKnownExpressions) {
    ASSERT_TRUE(find_word_rules(expression)) << expression;
    const auto scanner = compile({expression, true}, "test");
    const auto generic = compile_generic(expression, "test");
    ASSERT_TRUE(scanner && generic);
    for (int i = 0; i < 20000; ++i) {
      const std::string text = random_text(random);
      ASSERT_EQ(all_matches(**scanner, text), all_matches(**generic, text))
          << expression << "\n"
          << testing::PrintToString(text);
    }
  }
}

TEST(WordScanner, EqualsTheRegularExpressionOnEveryCodePoint) {
  for (const char* expression : kKnownExpressions) {
    const auto scanner = compile({expression, true}, "test");
    const auto generic = compile_generic(expression, "test");
    std::string text;
    for (char32_t c = 0; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      // Planes 4 to 13 are unassigned, 15 and 16 private: a sample of them will do.
      if (c >= 0x40000 && c / 0x10000 != 14 && c % 0x800 != 0) continue;
      // Between letters, digits, signs and spaces, to see every boundary.
      text += "a";
      append_utf8(text, c);
      append_utf8(text, c);
      text += "1";
      append_utf8(text, c);
      text += ". ";
      if (text.size() > 50000 || c > 0x10F7FF) {
        ASSERT_EQ(all_matches(**scanner, text), all_matches(**generic, text)) << expression;
        text.clear();
      }
    }
  }
}

TEST(WordScanner, KnowsOnlyExactExpressions) {
  EXPECT_FALSE(find_word_rules(std::string(kKnownExpressions[0]) + " "));
  EXPECT_FALSE(find_word_rules(R"(\p{L}+)"));
}

struct Refusal {
  const char* expression;
  ErrorCode code;
  const char* message;
};

TEST(Regex, RefusesByNameWhatItCannotHonour) {
  const Refusal kRefusals[] = {
      {R"(a\1)", ErrorCode::kUnsupported, R"(the escape \1 at byte 1 is not supported)"},
      {R"(\Gx)", ErrorCode::kUnsupported, R"(the escape \G at byte 0 is not supported)"},
      {R"(\X)", ErrorCode::kUnsupported, R"(the escape \X at byte 0 is not supported)"},
      {R"(a\Kb)", ErrorCode::kUnsupported, R"(the escape \K at byte 1 is not supported)"},
      {R"(\p{InArrows})", ErrorCode::kUnsupported,
       R"(the property "InArrows" at byte 3 is not supported)"},
      {R"((?~a))", ErrorCode::kUnsupported, "this kind of group at byte 2 is not supported"},
      {R"((?s:.))", ErrorCode::kUnsupported, "this kind of group at byte 2 is not supported"},
      {R"((?i:ss))", ErrorCode::kUnsupported,
       "ignored case where one character matches several at byte 6 is not supported"},
      {R"((?i:[\p{L}]))", ErrorCode::kUnsupported,
       "a class with ignored case and characters that match several at byte 5 is not supported"},
      {R"(a**)", ErrorCode::kUnsupported,
       "a quantifier of a quantifier at byte 2 is not supported"},
      {R"(\xe9)", ErrorCode::kUnsupported,
       R"(\xHH above 7F (write \x{HH}) at byte 4 is not supported)"},
      {R"(*a)", ErrorCode::kMalformed,
       "a quantifier without anything to repeat at byte 0 is not valid"},
      {R"([a)", ErrorCode::kMalformed, "a class without ']' at byte 2 is not valid"},
      {R"([z-a])", ErrorCode::kMalformed, "an empty range at byte 4 is not valid"},
      {R"([\d-z])", ErrorCode::kMalformed, "a range with a class at byte 4 is not valid"},
      {R"((a)", ErrorCode::kMalformed, "a group without ')' at byte 2 is not valid"},
      {R"(a))", ErrorCode::kMalformed, "a ')' without '(' at byte 1 is not valid"},
  };
  for (const Refusal& refusal : kRefusals) {
    const auto result = translate_to_pcre(refusal.expression);
    ASSERT_FALSE(result) << refusal.expression << " gave " << *result;
    EXPECT_EQ(result.error().code, refusal.code) << refusal.expression;
    EXPECT_EQ(result.error().message,
              "regular expression \"" + std::string(refusal.expression) + "\": " + refusal.message);
  }
}

TEST(Regex, SaysWhatPcreRefuses) {
  const auto pattern = compile({R"((?<=a*)b)", true}, "tokenizer.json: pre_tokenizer.pattern");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(pattern.error().message.starts_with(
      "tokenizer.json: pre_tokenizer.pattern: regular expression \"(?<=a*)b\": PCRE2 refuses it: "))
      << pattern.error().message;
}

TEST(Regex, GivesUpRatherThanRunForEver) {
  const auto pattern = compile({R"((?:a|aa|a.)+[cd])", true}, "test");
  ASSERT_TRUE(pattern) << pattern.error().message;
  std::vector<ByteRange> matches;
  EXPECT_THROW((*pattern)->find_all(std::string(200, 'a'), matches), LatticeError);
}

TEST(Regex, DeepNestingIsRefused) {
  const std::string open(1000, '(');
  const std::string brackets(1000, '[');
  EXPECT_FALSE(translate_to_pcre(open + "a" + std::string(1000, ')')));
  EXPECT_FALSE(translate_to_pcre(brackets + "a" + std::string(1000, ']')));
}

TEST(CodePointSet, JoinsComplementsAndIntersects) {
  CodePointSet set;
  set.add('c', 'f');
  set.add('a', 'b');
  set.add('x', 'x');
  set.add('d', 'g');
  ASSERT_EQ(set.ranges().size(), 2u);
  EXPECT_TRUE(set.contains('a') && set.contains('g') && set.contains('x'));
  EXPECT_FALSE(set.contains('h'));
  const CodePointSet rest = set.complement();
  EXPECT_TRUE(rest.contains(0) && rest.contains('h') && rest.contains(0x10FFFF));
  EXPECT_TRUE(set.intersection(rest).empty());
  EXPECT_TRUE(CodePointSet::all().complement().empty());
}

TEST(Properties, FindsNamesInAnySpelling) {
  for (const char* name : {"L", "l", "Letter", "LETTER", "Lu", "uppercase letter", "Han", "alpha",
                           "Old_Italic", "old italic", "White_Space", "LC"}) {
    const auto set = find_property(name);
    ASSERT_TRUE(set) << name;
    EXPECT_FALSE(set->empty()) << name;
  }
  for (const char* name : {"", "Foo", "IsL", "L&", "Script=Han"}) {
    EXPECT_FALSE(find_property(name)) << name;
  }
}

}  // namespace
}  // namespace lattice::regex
