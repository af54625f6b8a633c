#include "text/utf8.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(Utf8, RoundTripsEveryCodePoint) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    ASSERT_EQ(text.size(), utf8_length(c));
    ASSERT_EQ(text.size(), utf8_length(text[0]));
    std::size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), c);
    ASSERT_EQ(at, text.size());
    ASSERT_EQ(find_invalid_utf8(text), std::nullopt) << static_cast<unsigned>(c);
  }
}

TEST(Utf8, NamesTheFirstInvalidByte) {
  const std::string good(100, 'a');
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xEF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF", "\xE4\xB8z", "\xF0\x9F\x98"}) {
    EXPECT_EQ(find_invalid_utf8(bad), 0u) << bad;
    EXPECT_EQ(find_invalid_utf8("\xC3\xA9" + good + bad + good), 102u) << bad;
  }
}

}  // namespace
}  // namespace lattice
