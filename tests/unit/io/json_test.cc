#include "io/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "io/config_reader.h"

namespace lattice {
namespace {

TEST(Json, KeepsOrderTypesAndDuplicates) {
  const auto document = JsonDocument::parse(R"({"b":1,"a":[true,null,2.5,"x\u0000y"],"b":2})", "t");
  ASSERT_TRUE(document) << document.error().message;
  const Json& root = document->root();
  ASSERT_EQ(root.members().size(), 3u);
  EXPECT_EQ(root.members()[0].key, "b");
  EXPECT_EQ(root.find("b")->as_int(), 1);
  const auto items = root.find("a")->items();
  EXPECT_EQ(items[0].as_bool(), true);
  EXPECT_TRUE(items[1].is_null());
  EXPECT_EQ(items[2].as_double(), 2.5);
  EXPECT_EQ(items[3].as_string(), std::string_view("x\0y", 3));
  EXPECT_EQ(find_duplicate_key(root), "b");
}

TEST(Json, ReadsIntegersAbove64BitsAsFloats) {
  const auto document = JsonDocument::parse(
      R"({"a":1000000000000000019884624838656,"b":18446744073709551615,"c\\\"1":[-1e-30,)"
      R"(18446744073709551616,"999999999999999999999999"],"d":0.123456789012345678901234})",
      "t");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root().find("a")->as_double(), 1e30);
  EXPECT_EQ(document->root().find("a")->as_int(), std::nullopt);
  EXPECT_EQ(document->root().find("b")->as_uint(), std::numeric_limits<std::uint64_t>::max());
  const auto items = document->root().find("c\\\"1")->items();
  EXPECT_EQ(items[0].as_double(), -1e-30);
  EXPECT_EQ(items[1].as_double(), 0x1p64);
  EXPECT_EQ(items[2].as_string(), "999999999999999999999999");
  EXPECT_EQ(document->root().find("d")->as_double(), 0.123456789012345678901234);
  EXPECT_FALSE(JsonDocument::parse("[1000000000000000019884624838656,1.]", "t"));
}

TEST(Json, RefusesBadTextWithTheSourceName) {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "\xFF", "{\"a\":\"\xC3\"}", "1 2"}) {
    const auto document = JsonDocument::parse(text, "config.json");
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, ErrorCode::kMalformed);
    EXPECT_TRUE(document.error().message.starts_with("config.json: ")) << document.error().message;
  }
}

TEST(Json, RefusesAViewOfNothing) {
  const auto document = JsonDocument::parse(std::string_view(), "config.json");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kMalformed);
}

TEST(Json, RefusesDeepNesting) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(JsonDocument::parse(deep, "t"));
}

TEST(ConfigReader, NamesTheFieldOfTheFirstError) {
  const auto document =
      JsonDocument::parse(R"({"n":0,"s":3,"huge":18446744073709551615})", "c.json");
  ConfigReader reader(document->root(), "c.json");
  reader.require_int("n", 1, 10);
  reader.get_string("s", "");
  EXPECT_EQ(reader.finish().error().message, "c.json: n: expected an integer in 1..10, got 0");
  ConfigReader huge(document->root(), "c.json");
  huge.require_int("huge", 1, 10);
  EXPECT_EQ(huge.finish().error().message,
            "c.json: huge: expected an integer in 1..10, got 18446744073709551615");
  EXPECT_EQ(huge.unread_keys(), (std::vector<std::string>{"n", "s"}));
}

TEST(ConfigReader, RefusesADuplicateKeyItReads) {
  const auto document = JsonDocument::parse(R"({"n":1,"n":2})", "c.json");
  ConfigReader reader(document->root(), "c.json");
  reader.get_int("n", 0, 0, 9);
  EXPECT_EQ(reader.finish().error().message, "c.json: n occurs twice");
}

}  // namespace
}  // namespace lattice
