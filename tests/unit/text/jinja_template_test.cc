#include <gmock/gmock.h>

#include "jinja_support.h"

namespace lattice::jinja {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(JinjaTemplate, SyntaxErrorsNameTheLineAndTheReason) {
  const Error unclosed = error_of("a\nb\n{% if x %}\nc");
  EXPECT_EQ(unclosed.code, ErrorCode::kMalformed);
  EXPECT_THAT(unclosed.message, StartsWith("[jinja] test:4:"));
  EXPECT_THAT(unclosed.message, HasSubstr("endif"));
  EXPECT_EQ(error_of("\n\n{{ 1 + }}").message, "[jinja] test:3: unexpected '}}'");
  EXPECT_EQ(error_of("{{ (1, 2] }}").message, "[jinja] test:1: unexpected ']', expected ')'");
  EXPECT_THAT(error_of("{{ 'a").message, HasSubstr("closing quote"));
  EXPECT_THAT(error_of("{% raw %}").message, HasSubstr("raw"));
  EXPECT_THAT(error_of("\n{#").message, StartsWith("[jinja] test:2: missing end of comment"));
  EXPECT_EQ(error_of("\xff").code, ErrorCode::kMalformed);
  EXPECT_EQ(error_of("{% endfor %}").code, ErrorCode::kMalformed);
  EXPECT_EQ(error_of("{% break %}").code, ErrorCode::kMalformed);
}

TEST(JinjaTemplate, WhatIsNotImplementedIsNamed) {
  for (const auto& [source, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{% include 'x' %}", "'include'"},
           {"{% frobnicate %}", "'frobnicate'"},
           {"{{ x | xmlattr }}", "'xmlattr'"},
           {"{{ x is loud }}", "'loud'"},
           {"{{ 'x'.encode() }}", "str.encode"},
           {"{{ '\\N{DASH}' }}", "\\N"},
           {"{{ 99999999999999999999 }}", "99999999999999999999"}}) {
    const Error error = error_of(source);
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << source;
    EXPECT_THAT(error.message, HasSubstr(name));
  }
  EXPECT_EQ(error_of("{{ x }}", R"({"x": 18446744073709551615})").code, ErrorCode::kUnsupported);
}

TEST(JinjaTemplate, MistakesWhileRenderingNameTheLine) {
  const Error undefined = error_of("\n{{ messages[0].content }}\n", R"({"messages": []})");
  EXPECT_EQ(undefined.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(undefined.message, "[jinja] test:2: list object has no element 0");
  EXPECT_EQ(error_of("{{ a.b }}").message, "[jinja] test:1: 'a' is undefined");
  EXPECT_EQ(error_of("{{ a.b.c }}", R"({"a": {}})").message,
            "[jinja] test:1: 'dict object' has no attribute 'b'");
  EXPECT_EQ(error_of("{% set x = [] %}\n\n{{ x.append(1) }}").message,
            "[jinja] test:3: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_THAT(error_of("{{ 9223372036854775807 + 1 }}").message, HasSubstr("64 bits"));
}

TEST(JinjaTemplate, IntegersAreDividedAsInPython) {
  for (const auto& [expression, quotient] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"10 / 4", "2.5"},
           {"-7 / 2", "-3.5"},
           {"0 / -5", "-0.0"},
           {"1 / 3", "0.3333333333333333"},
           {"9007199254740993 / 1", "9007199254740992.0"},
           {"9007199254740993 / 3", "3002399751580331.0"},
           {"6004799503160661 / 4503599627370497", "1.333333333333333"},
           {"4611686018427387905 / 9007199254740993", "511.99999999999994"},
           {"9223372036854775807 / 9223372036854775806", "1.0"},
           {"9223372036854775807 / 7", "1.3176245766935393e+18"},
           {"(-9223372036854775807 - 1) / 3", "-3.0744573456182584e+18"},
           {"1 / (-9223372036854775807 - 1)", "-1.0842021724855044e-19"}}) {
    EXPECT_EQ(text_of("{{ " + std::string(expression) + " }}"), quotient) << expression;
  }
}

TEST(JinjaTemplate, RaiseExceptionGivesItsMessageAlone) {
  const Error error = error_of("{{ raise_exception('roles must alternate') }}");
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message, "roles must alternate");
}

TEST(JinjaTemplate, OneTemplateRendersManyTimes) {
  const Template parsed = Template::parse(
      "{% set ns = namespace(i=0) %}{% for x in xs %}"
      "{% set ns.i = ns.i + x %}{% endfor %}{{ ns.i }}",
      "test");
  EXPECT_EQ(parsed.render(context_of(R"({"xs": [1, 2]})")).text, "3");
  EXPECT_EQ(parsed.render(context_of(R"({"xs": [4]})")).text, "4");
  EXPECT_EQ(parsed.render(Value()).text, "0");
}

TEST(JinjaTemplate, TheClockIsInjected) {
  RenderOptions options;
  options.clock = [] {
    std::tm time{};
    time.tm_year = 130;
    time.tm_mday = 2;
    return time;
  };
  EXPECT_EQ(render("{{ strftime_now('%d %b %Y %Q %') }}", "{}", options).text, "02 Jan 2030 %Q %");
  EXPECT_EQ(text_of("{{ strftime_now('%Y') | length }}"), "4");
}

TEST(JinjaTemplate, NamespacesThatHoldEachOtherAreFreed) {
  // LeakSanitizer would tell; so would a stack overflow, for the chain.
  EXPECT_EQ(text_of("{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}x"),
            "x");
  EXPECT_EQ(text_of("{% set ns = namespace() %}{% for i in range(50000) %}"
                    "{% set ns.next = namespace(n=ns.next) %}{% endfor %}x"),
            "x");
  EXPECT_EQ(text_of("{% set ns = namespace() %}{% for i in range(20000) %}{% set old = ns.m %}"
                    "{% macro m() %}{{ old }}{% endmacro %}{% set ns.m = m %}{% endfor %}x"),
            "x");
  EXPECT_EQ(text_of("{% set ns = namespace() %}{% for i in range(20000) %}"
                    "{% for j in [ns.l] %}{% set ns.l = loop %}{% endfor %}{% endfor %}x"),
            "x");
}

}  // namespace
}  // namespace lattice::jinja
