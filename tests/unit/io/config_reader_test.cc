#include "io/config_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

namespace lattice {
namespace {

JsonDocument parse(std::string_view text) {
  return value_or_throw(JsonDocument::parse(text, "config.json"));
}

/// The error that reading `text` with `read` leaves, or "".
std::string error_of(std::string_view text, const std::function<void(ConfigReader&)>& read) {
  const JsonDocument document = parse(text);
  ConfigReader reader(document.root(), "config.json");
  read(reader);
  const auto status = reader.finish();
  EXPECT_EQ(reader.ok(), status.has_value());
  return status ? "" : status.error().message;
}

TEST(ConfigReader, ReadsEveryType) {
  const JsonDocument document =
      parse(R"({"i":-3,"f":1e3,"d":0.5,"b":true,"s":"gelu","n":null,"o":{},"big":1.5e9})");
  ConfigReader reader(document.root(), "config.json");
  EXPECT_EQ(reader.require_int("i", -5, 5), -3);
  EXPECT_EQ(reader.get_int("f", 0, 0, 5000), 1000);
  EXPECT_EQ(reader.get_double("d", 0), 0.5);
  EXPECT_EQ(reader.get_double("i", 0), -3.0);
  EXPECT_EQ(reader.get_int("big", 0, 0, 2'000'000'000), 1'500'000'000);
  EXPECT_TRUE(reader.get_bool("b", false));
  EXPECT_EQ(reader.require_string("s"), "gelu");
  EXPECT_EQ(reader.get_string("n", "absent"), "absent");
  EXPECT_FALSE(reader.has("n"));
  EXPECT_TRUE(reader.get("o")->is_object());
  EXPECT_EQ(reader.get_int("none", 7, 0, 9), 7);
  EXPECT_TRUE(reader.finish());
  EXPECT_TRUE(reader.unread_keys().empty());
}

// An earlier implementation: "huge or duplicate integers in config: out-of-memory"
TEST(ConfigReader, FieldBugHugeIntegersAreRefusedByName) {
  const auto read = [](ConfigReader& reader) { reader.require_int("hidden_size", 1, 65536); };
  constexpr std::string_view kExpected = "config.json: hidden_size: expected an integer";
  for (const char* value :
       {"0", "-1", "65537", "1e9", "9223372036854775807", "18446744073709551615",
        "36893488147419103232", "1e300", "1.5", "\"12\"", "true", "[1]"}) {
    const std::string error = error_of(fmt::format(R"({{"hidden_size":{}}})", value), read);
    EXPECT_TRUE(error.starts_with(kExpected)) << value << ": " << error;
  }
  EXPECT_EQ(error_of(R"({"hidden_size":65536})", read), "");
  EXPECT_EQ(error_of("{}", read), "config.json: hidden_size is missing (expected an integer)");
  EXPECT_EQ(error_of(R"({"hidden_size":1,"hidden_size":1})", read),
            "config.json: hidden_size occurs twice");
}

TEST(ConfigReader, WrongTypesAreNamed) {
  EXPECT_EQ(error_of(R"({"x":"1"})", [](ConfigReader& r) { r.get_double("x", 0); }),
            "config.json: x: expected a finite number, got string");
  EXPECT_EQ(error_of(R"({"x":1})", [](ConfigReader& r) { r.get_bool("x", false); }),
            "config.json: x: expected true or false, got integer");
  EXPECT_EQ(error_of(R"({"x":[]})", [](ConfigReader& r) { r.get_string("x", ""); }),
            "config.json: x: expected a string, got array");
  EXPECT_EQ(error_of("{}", [](ConfigReader& r) { r.require_string("x"); }),
            "config.json: x is missing (expected a string)");
  EXPECT_EQ(error_of("[]", [](ConfigReader& r) { r.get_bool("x", false); }),
            "config.json: expected a JSON object, got array");
}

TEST(ConfigReader, KeepsTheFirstErrorAndThenReturnsDefaults) {
  const JsonDocument document = parse(R"({"a":"bad","b":5,"c":"bad"})");
  ConfigReader reader(document.root(), "config.json");
  EXPECT_EQ(reader.get_int("a", 1, 0, 9), 1);
  EXPECT_EQ(reader.get_int("b", 2, 0, 9), 2);
  reader.get_bool("c", false);
  reader.set_error(ErrorCode::kUnsupported, "later");
  EXPECT_EQ(reader.finish().error().code, ErrorCode::kMalformed);
  EXPECT_EQ(reader.finish().error().message, "config.json: a: expected an integer, got string");
}

TEST(ConfigReader, ListsWhatNobodyRead) {
  const JsonDocument document = parse(R"({"z":1,"known":2,"a":3,"inert":4})");
  ConfigReader reader(document.root(), "config.json");
  reader.get_int("known", 0, 0, 9);
  reader.ignore({"inert", "absent"});
  EXPECT_EQ(reader.unread_keys(), (std::vector<std::string>{"z", "a"}));
}

}  // namespace
}  // namespace lattice
