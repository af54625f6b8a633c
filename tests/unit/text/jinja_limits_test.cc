#include <gmock/gmock.h>

#include <chrono>

#include "jinja_support.h"
#include "support/sanitizer.h"

namespace lattice::jinja {
namespace {

using ::testing::HasSubstr;

void expect_limit(std::string_view source, std::string_view name, const Limits& limits = {}) {
  RenderOptions options;
  options.limits = limits;
  const Error error = error_of(source, "{}", options);
  EXPECT_EQ(error.code, ErrorCode::kTooLong) << source;
  EXPECT_THAT(error.message, HasSubstr(fmt::format("limit {} =", name))) << source;
}

TEST(JinjaLimits, Steps) {
  Limits limits;
  limits.steps = 1000;
  expect_limit("{% for i in range(500) %}{{ i }}{% endfor %}", "steps", limits);
  expect_limit("{% set x = 'a' * 1000 %}{% for i in range(50) %}{% set y = x ~ i %}{% endfor %}",
               "steps", limits);
  expect_limit("{{ [0] * 2000 }}", "steps", limits);
  expect_limit("{{ range(2000) | list }}", "steps", limits);
  expect_limit("{{ range(2000) | map('string') | join }}", "steps", limits);
}

TEST(JinjaLimits, Depth) {
  expect_limit("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "depth");
  expect_limit("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "depth");
  expect_limit(
      "{% macro a() %}{% call b() %}{{ a() }}{% endcall %}{% endmacro %}"
      "{% macro b() %}{{ caller() }}{% endmacro %}{{ a() }}",
      "depth");
  expect_limit("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "depth");
}

TEST(JinjaLimits, OutputBytes) {
  Limits limits;
  limits.output_bytes = 1000;
  expect_limit("{% for i in range(300) %}abcdefgh{% endfor %}", "output_bytes", limits);
  expect_limit("{{ 'x' * 1001 }}", "output_bytes", limits);
  expect_limit("{{ '%2000d' % 1 }}", "output_bytes", limits);
  expect_limit("{{ '{:>2000}'.format(1) }}", "output_bytes", limits);
  expect_limit("{{ 'x' | center(2000) }}", "output_bytes", limits);
  expect_limit("{{ 'x' | indent(2000, true) }}", "output_bytes", limits);
  expect_limit("{{ 'x' * 9223372036854775807 }}", "output_bytes");
  expect_limit("{{ [1] * 9223372036854775807 }}", "output_bytes");
  expect_limit("{{ '%*d' % (9223372036854775807, 1) }}", "output_bytes");
  expect_limit(
      "{% set ns = namespace(s='ab') %}{% for i in range(60) %}"
      "{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
      "output_bytes");
}

TEST(JinjaLimits, RangeSize) {
  expect_limit("{{ range(100001) }}", "range_size");
  expect_limit("{{ range(-9223372036854775807, 9223372036854775807, 3) }}", "range_size");
  EXPECT_EQ(text_of("{{ range(100000) | length }}"), "100000");
}

TEST(JinjaLimits, NestedValues) {
  EXPECT_THAT(error_of("{% set ns = namespace(x=[]) %}{% for i in range(9000) %}"
                       "{% set ns.x = [ns.x] %}{% endfor %}")
                  .message,
              HasSubstr("nest deeper"));
  EXPECT_THAT(error_of("{% set ns = namespace(x=[]) %}{% for i in range(9000) %}"
                       "{% set ns.x = ns.x | map('upper') %}{% endfor %}")
                  .message,
              HasSubstr("nest deeper"));
  // A value that holds itself twice at each of many levels.
  expect_limit(
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(90) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
      "{{ ns.x == ns.y }}",
      "steps");
}

TEST(JinjaLimits, NestedSource) {
  for (const auto& [open, close] :
       std::initializer_list<std::pair<const char*, const char*>>{{"(", ")"},
                                                                  {"[", "]"},
                                                                  {"not ", ""},
                                                                  {"-", ""},
                                                                  {"{1:", "}"},
                                                                  {"x[", "]"},
                                                                  {"f(", ")"}}) {
    std::string source = "{{ ";
    for (int i = 0; i < 100000; ++i) source += open;
    source += "1";
    for (int i = 0; i < 100000; ++i) source += close;
    EXPECT_EQ(error_of(source + " }}").code, ErrorCode::kMalformed) << open;
  }
  std::string chain = "{{ x";
  for (int i = 0; i < 100000; ++i) chain += "|abs";
  EXPECT_EQ(error_of(chain + " }}").code, ErrorCode::kMalformed);
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += "{% if x %}";
  EXPECT_EQ(error_of(blocks).code, ErrorCode::kMalformed);
}

// A megabyte must take about ten times as long as 100 kB; a quadratic step would take a hundred.
TEST(JinjaLimits, LongTextTakesLinearTime) {
  for (const std::string_view unit : {"a", "é", " ", "\n", "<", "{", "%"}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    auto dict = std::make_shared<Dict>();
    dict->set(Value::string("x"), Value::string(text, true));
    const auto begin = std::chrono::steady_clock::now();
    const Template parsed = Template::parse(
        "{{ (x ~ 'z') | trim | replace('aa', 'b') | length }}{{ x.split('</think>')[-1] | length }}"
        "{{ x.strip() | upper | lower | title | length }}{{ x | tojson | length }}{{ x[5:-5] | "
        "length }}"
        "{{ x | indent | length }}{{ x.find('zzzz') }}{{ x.split() | length }}{{ x | escape | "
        "length }}"
        "{{ x.replace('', '-', 5) | length }}{{ '%s' % x == x }}{{ x.splitlines() | length }}",
        "test");
    EXPECT_FALSE(parsed.render(Value(std::shared_ptr<const Dict>(dict))).text.empty());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(elapsed.count(), kSanitized ? 200 : 10) << unit;
  }
}

}  // namespace
}  // namespace lattice::jinja
