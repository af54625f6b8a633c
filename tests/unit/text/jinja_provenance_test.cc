#include <gmock/gmock.h>

#include "jinja_support.h"

namespace lattice::jinja {
namespace {

// The output with what came from the user in brackets.
std::string marked(std::string_view source, std::string_view json = R"({"u": "User text"})") {
  const Rendered rendered = Template::parse(source, "test").render(context_of(json, true));
  std::string result;
  std::size_t at = 0;
  for (const Span& span : rendered.user_spans) {
    EXPECT_LT(span.begin, span.end);
    EXPECT_TRUE(at == 0 || span.begin > at) << "spans touch";
    result += rendered.text.substr(at, span.begin - at) + "[";
    result += rendered.text.substr(span.begin, span.end - span.begin) + "]";
    at = span.end;
  }
  return result + rendered.text.substr(at);
}

TEST(JinjaProvenance, OutputAndConcatenation) {
  EXPECT_EQ(marked("<a>{{ u }}</a>"), "<a>[User text]</a>");
  EXPECT_EQ(marked("{{ '<' + u + '>' }}"), "<[User text]>");
  EXPECT_EQ(marked("{{ '<' ~ u ~ u ~ 1 ~ '>' }}"), "<[User textUser text]1>");
  EXPECT_EQ(marked("{{ u * 2 }}{{ 'x' * 2 }}"), "[User textUser text]xx");
  EXPECT_EQ(marked("{{ 'no user text' }}"), "no user text");
  EXPECT_EQ(marked("{{ u ~ '' }}"), "[User text]");
  EXPECT_EQ(marked("{{ '' }}{{ u }}", R"({"u": ""})"), "");
}

TEST(JinjaProvenance, SlicesAndItems) {
  EXPECT_EQ(marked("{{ ('<' ~ u ~ '>')[:4] }}"), "<[Use]");
  EXPECT_EQ(marked("{{ ('<' ~ u ~ '>')[::-1] }}"), ">[txet resU]<");
  EXPECT_EQ(marked("{{ u[0] }}-{{ u[-1] }}"), "[U]-[t]");
  EXPECT_EQ(marked("{% for c in '<' ~ u %}{{ c }},{% endfor %}", R"({"u": "añ"})"), "<,[a],[ñ],");
  EXPECT_EQ(marked("{{ (u ~ '|x').split('|') | join('+') }}"), "[User text]+x");
}

TEST(JinjaProvenance, FiltersAndMethodsKeepIt) {
  EXPECT_EQ(marked("{{ ('  ' ~ u ~ ' ') | trim }}"), "[User text]");
  EXPECT_EQ(marked("{{ ('x' ~ u) | upper }}{{ ('X' ~ u).lower() }}"), "X[USER TEXT]x[user text]");
  EXPECT_EQ(marked("{{ ('a' ~ u) | title }}", R"({"u": "b ß"})"), "A[b SS]");
  EXPECT_EQ(marked("{{ u | replace('text', '<t>') }}"), "[User ]<t>");
  EXPECT_EQ(marked("{{ 'a-b' | replace('-', u) }}"), "a[User text]b");
  EXPECT_EQ(marked("{{ ['a', u, 'b'] | join('|') }}"), "a|[User text]|b");
  EXPECT_EQ(marked("{{ ['a', 'b'] | join(u) }}"), "a[User text]b");
  EXPECT_EQ(marked("{{ u | default('x') }}{{ missing | default(u) }}"), "[User textUser text]");
  EXPECT_EQ(marked("{{ u | center(13) }}"), "  [User text]  ");
  EXPECT_EQ(marked("{{ (u ~ '\\nx') | indent(2) }}"), "[User text]\n  x");
  EXPECT_EQ(marked("{{ u | truncate(5, true, '..', 0) }}"), "[Use]..");
  EXPECT_EQ(marked("{{ '<%s>' % u }}{{ '<{}>'.format(u) }}{{ '%s!' | format(u) }}"),
            "<[User text]><[User text]>[User text]!");
  EXPECT_EQ(marked("{{ u | escape }}", R"({"u": "a<b"})"), "[a&lt;b]");
  EXPECT_EQ(marked("{{ [u] | map('upper') | first }}{{ u | reverse }}{{ u | list | last }}"),
            "[USER TEXTtxet resUt]");
  EXPECT_EQ(marked("{{ u.split(' ')[1] }}{{ u.strip('U') }}{{ u.removeprefix('Us') }}"),
            "[textser texter text]");
  EXPECT_EQ(marked("{{ u.zfill(11) }}{{ u.partition(' ')[2] }}"), "00[User texttext]");
}

TEST(JinjaProvenance, StructuredText) {
  EXPECT_EQ(marked("{{ {'k': u} | tojson }}"), "{\"k\": \"[User text]\"}");
  EXPECT_EQ(marked("{{ u | tojson }}", R"({"u": "a\"b"})"), "\"[a\\\"b]\"");
  EXPECT_EQ(marked("{{ u | tojson }}", R"({"u": {"key": [1, "v"]}})"), "{\"[key]\": [1, \"[v]\"]}");
  EXPECT_EQ(marked("{{ [u, 'x'] }}"), "['[User text]', 'x']");
}

TEST(JinjaProvenance, BlocksMacrosAndNamespaces) {
  EXPECT_EQ(marked("{% set b %}<{{ u }}>{% endset %}{{ b }}"), "<[User text]>");
  EXPECT_EQ(marked("{% macro m(x) %}<{{ x }}>{{ caller() }}{% endmacro %}"
                   "{% call m(u) %}!{{ u }}{% endcall %}"),
            "<[User text]>![User text]");
  EXPECT_EQ(marked("{% filter upper %}a{{ u }}{% endfilter %}"), "A[USER TEXT]");
  EXPECT_EQ(marked("{% set ns = namespace(s='>') %}{% for m in u %}{% set ns.s = ns.s ~ m.c %}"
                   "{% endfor %}{{ ns.s }}",
                   R"({"u": [{"c": "a"}, {"c": "b"}]})"),
            ">[ab]");
}

TEST(JinjaProvenance, TemplateTextThatLooksLikeTheUsersStaysTemplateText) {
  auto context = std::make_shared<Dict>();
  context->set(Value::string("trusted"), Value::string("<|im_end|>"));
  context->set(Value::string("user"), Value::string("<|im_end|>", true));
  const Rendered rendered = Template::parse("{{ trusted }}{{ user }}<|im_end|>", "test")
                                .render(Value(std::shared_ptr<const Dict>(context)));
  EXPECT_EQ(rendered.text, "<|im_end|><|im_end|><|im_end|>");
  EXPECT_EQ(rendered.user_spans, (std::vector<Span>{{10, 20}}));
}

}  // namespace
}  // namespace lattice::jinja
