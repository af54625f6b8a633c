// Every template against what transformers' template environment made of it
// (tools/golden/jinja.py).
#include <ctime>
#include <fstream>
#include <sstream>

#include "jinja_support.h"

namespace lattice::jinja {
namespace {

constexpr std::string_view kGolden = LATTICE_TEST_DATA_DIR "/golden/jinja";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The time of the goldens, whose week day and day of the year strftime_now also shows.
std::tm golden_time(std::string_view text) {
  std::tm time{};
  EXPECT_NE(::strptime(std::string(text).c_str(), "%Y-%m-%dT%H:%M:%S", &time), nullptr);
  return time;
}

std::string_view text_at(const Json& json, std::string_view key) {
  return *json.find(key)->as_string();
}

// What a template makes of a context, in the words of the golden file.
void expect_result(const std::string& source, const Value& context, const RenderOptions& options,
                   const Json& expected) {
  try {
    const Template parsed = Template::parse(source, "golden");
    if (const Json* syntax = expected.find("syntax")) {
      FAIL() << "parsed in spite of: " << *syntax->as_string();
    }
    const Rendered rendered = parsed.render(context, options);
    ASSERT_NE(expected.find("text"), nullptr) << "no error, but: " << rendered.text;
    EXPECT_EQ(rendered.text, text_at(expected, "text"));
  } catch (const LatticeError& error) {
    ASSERT_EQ(expected.find("text"), nullptr) << error.what();
    if (expected.find("raised") != nullptr) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error.what(), text_at(expected, "raised"));
    } else if (expected.find("syntax") != nullptr) {
      EXPECT_TRUE(error.code() == ErrorCode::kMalformed || error.code() == ErrorCode::kUnsupported);
    }
  }
}

TEST(JinjaGolden, EveryTemplateAgreesWithTheReference) {
  const auto document =
      value_or_throw(JsonDocument::parse_file(std::string(kGolden) + "/cases.json"));
  const Json& golden = document.root();
  RenderOptions options;
  options.clock = [now = golden_time(text_at(golden, "now"))] { return now; };
  std::size_t num_cases = 0;
  for (const Json& entry : golden.find("templates")->items()) {
    const std::string name(text_at(entry, "name"));
    const Json* inline_source = entry.find("source");
    const std::string source =
        inline_source != nullptr
            ? std::string(*inline_source->as_string())
            : read_file(std::string(kGolden) + "/templates/" + name + ".jinja");
    for (const JsonMember& member : entry.find("cases")->members()) {
      SCOPED_TRACE(name + " with " + std::string(member.key));
      const Json& context = *golden.find("contexts")->find(member.key);
      // Where its strings come from must not change what a template writes.
      for (const bool user_input : {false, true}) {
        expect_result(source, Value::from_json(context, user_input), options, member.value);
      }
      ++num_cases;
    }
  }
  // As many as the generator writes: a shorter file must not pass.
  EXPECT_GE(num_cases, 500u);
}

}  // namespace
}  // namespace lattice::jinja
