#include "base/parse_double.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace lattice {
namespace {

struct Parsed {
  double value = 42.0;  // left alone by errors
  std::ptrdiff_t length = 0;
  std::errc error = {};
};

Parsed parse(const std::string& text) {
  Parsed parsed;
  const auto [end, error] = parse_double(text.data(), text.data() + text.size(), parsed.value);
  parsed.length = end - text.data();
  parsed.error = error;
  return parsed;
}

void expect_value(const std::string& text, double value, std::ptrdiff_t length) {
  const Parsed parsed = parse(text);
  EXPECT_EQ(parsed.error, std::errc()) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(parsed.value), std::bit_cast<std::uint64_t>(value))
      << text;
  EXPECT_EQ(parsed.length, length) << text;
}

TEST(ParseDouble, ReadsAsMuchAsIsANumber) {
  expect_value("0", 0.0, 1);
  expect_value("-0", -0.0, 2);
  expect_value("1.5", 1.5, 3);
  expect_value(".5", 0.5, 2);
  expect_value("5.", 5.0, 2);
  expect_value("1e3", 1000.0, 3);
  expect_value("1E+3x", 1000.0, 4);
  expect_value("2e-2", 0.02, 4);
  expect_value("1e", 1.0, 1);
  expect_value("1e+", 1.0, 1);
  expect_value("1.2.3", 1.2, 3);
  expect_value("0x10", 0.0, 1);
  expect_value("7 8", 7.0, 1);
  expect_value("9007199254740993", 9007199254740992.0, 16);  // a tie, to the even neighbour
  expect_value("5e-324", 5e-324, 6);
  expect_value("0e999", 0.0, 5);
}

TEST(ParseDouble, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "-", ".", "-.", "e5", "+1", " 1", "inf", "nan", "x"}) {
    const Parsed parsed = parse(text);
    EXPECT_EQ(parsed.error, std::errc::invalid_argument) << text;
    EXPECT_EQ(parsed.length, 0) << text;
    EXPECT_EQ(parsed.value, 42.0) << text;
  }
}

TEST(ParseDouble, SaysWhatIsOutOfRange) {
  for (const std::string text : {"1e309", "-1e309", "1e-400", "0.0001e-400"}) {
    const Parsed parsed = parse(text);
    EXPECT_EQ(parsed.error, std::errc::result_out_of_range) << text;
    EXPECT_EQ(parsed.length, static_cast<std::ptrdiff_t>(text.size())) << text;
    EXPECT_EQ(parsed.value, 42.0) << text;
  }
}

TEST(ParseDouble, ReadsOnlyTheRange) {
  const std::string text = "123456";
  double value = 0;
  const auto result = parse_double(text.data(), text.data() + 3, value);
  EXPECT_EQ(value, 123.0);
  EXPECT_EQ(result.ptr, text.data() + 3);
}

#if defined(__cpp_lib_to_chars)  // where std::from_chars knows double, it is the specification

TEST(ParseDouble, AgreesWithTheStandardLibrary) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100000; ++i) {
    const auto number = std::bit_cast<double>(random());
    char text[64];
    const auto format = i % 2 == 0 ? std::chars_format::scientific : std::chars_format::general;
    if (!(number - number == 0)) continue;
    const auto written = std::to_chars(text, text + sizeof text, number, format);
    // Some digits less are another number, or none.
    const std::string digits(text, written.ptr - static_cast<int>(random() % 3));
    const char* const end = digits.data() + digits.size();
    double expected = 42.0, got = 42.0;
    const auto wanted = std::from_chars(digits.data(), end, expected);
    const auto result = parse_double(digits.data(), end, got);
    ASSERT_EQ(result.ec, wanted.ec) << digits;
    ASSERT_EQ(result.ptr, wanted.ptr) << digits;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(expected)) << digits;
  }
}

#endif

}  // namespace
}  // namespace lattice
