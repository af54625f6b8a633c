#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/characters.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/printf_format.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_search.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

Text text_of(Evaluator& evaluator, const Value& value) {
  return to_text(value, evaluator.budget());
}

template <LetterCase kCase>
Value case_filter(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("case filter", args, {});
  return change_case(text_of(evaluator, input), kCase, evaluator.budget());
}

bool starts_word_break(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
}

// Unlike str.title, words start after spaces, hyphens and opening brackets only.
Value title(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("title", args, {});
  Budget& budget = evaluator.budget();
  const Text text = text_of(evaluator, input);
  TextBuilder out(budget);
  const std::string_view bytes = text.bytes();
  for (std::size_t begin = 0; begin < bytes.size();) {
    std::size_t end = begin;
    const bool is_break = starts_word_break(next_code_point(bytes, end));
    const std::size_t second = end;
    while (end < bytes.size()) {
      std::size_t next = end;
      if (starts_word_break(next_code_point(bytes, next)) != is_break) break;
      end = next;
    }
    out.append(change_case(text.slice_bytes(begin, second), LetterCase::kUpper, budget));
    out.append(change_case(text.slice_bytes(second, end), LetterCase::kLower, budget));
    begin = end;
  }
  return out.take();
}

Value replace_filter(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("replace", args, {"old", "new", "count"}, 2);
  const std::int64_t count = bound.is_absent(2) ? -1 : bound.integer(2, -1);
  return replace(text_of(evaluator, input), text_of(evaluator, bound.at(0)),
                 text_of(evaluator, bound.at(1)), count, evaluator.budget());
}

Value trim(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("trim", args, {"chars"});
  const Text text = text_of(evaluator, input);
  evaluator.budget().step_bytes(text.size());
  if (bound.is_absent(0)) return strip(text, Side::kBoth, nullptr);
  const Text& characters = require_text(bound.at(0));
  return strip(text, Side::kBoth, &characters);
}

Value string_filter(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("string", args, {});
  return text_of(evaluator, input);
}

Value escape(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("escape", args, {});
  const Text text = text_of(evaluator, input);
  const std::string_view bytes = text.bytes();
  TextBuilder out(evaluator.budget());
  UserCursor is_user(text);
  std::size_t at = 0;
  while (true) {
    const std::size_t special = std::min(bytes.find_first_of("&<>'\"", at), bytes.size());
    out.append(text, at, special);
    if (special == bytes.size()) return out.take();
    const char c = bytes[special];
    out.append(c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&#34;"
                          : "&#39;",
               is_user(special));
    at = special + 1;
  }
}

Value format(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  if (!args.positional.empty() && !args.named.empty()) {
    eval_fail("can't handle positional and keyword arguments at the same time");
  }
  Value values = Value::tuple(args.positional);
  if (!args.named.empty()) {
    auto dict = std::make_shared<Dict>();
    for (const auto& [name, value] : args.named) dict->set(Value::string(name), value);
    values = std::shared_ptr<const Dict>(std::move(dict));
  }
  return printf_format(text_of(evaluator, input), values, evaluator.budget());
}

Value wordcount(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("wordcount", args, {});
  const Text text = text_of(evaluator, input);
  evaluator.budget().step_bytes(text.size());
  std::int64_t count = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text.bytes(), at);
    const bool is_word = c == '_' || is_alphanumeric(c);
    if (is_word && !in_word) ++count;
    in_word = is_word;
  }
  return count;
}

void append_url_quoted(TextBuilder& out, const Text& text, bool for_query) {
  constexpr std::string_view kSafe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~";
  UserCursor is_user(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text.bytes()[at];
    if (kSafe.find(c) != std::string_view::npos || (c == '/' && !for_query)) {
      out.append(text, at, at + 1);
    } else if (c == ' ' && for_query) {
      out.append("+", is_user(at));
    } else {
      out.append(fmt::format("%{:02X}", static_cast<unsigned char>(c)), is_user(at));
    }
  }
}

Value urlencode(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("urlencode", args, {});
  Budget& budget = evaluator.budget();
  TextBuilder out(budget);
  if (input.is_string() || !is_iterable(input)) {
    append_url_quoted(out, to_text(input, budget), false);
    return out.take();
  }
  const Value pairs =
      input.is_dict() ? Value(DictView{input.shared_dict(), DictView::Part::kItems}) : input;
  bool first = true;
  for (const Value& pair : to_items(pairs, budget)) {
    const auto items = to_items(pair, budget);
    if (items.size() != 2) eval_fail("urlencode needs pairs");
    if (!first) out.append("&");
    first = false;
    append_url_quoted(out, to_text(items[0], budget), true);
    out.append("=");
    append_url_quoted(out, to_text(items[1], budget), true);
  }
  return out.take();
}

Value default_filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("default", args, {"default_value", "boolean"});
  if (input.is_undefined() || (bound.flag(1, false) && !truthy(input))) {
    return bound.get(0, Text());
  }
  return input;
}

constexpr FilterEntry kFilters[] = {
    {"capitalize", case_filter<LetterCase::kCapitalize>},
    {"d", default_filter},
    {"default", default_filter},
    {"e", escape},
    {"escape", escape},
    {"forceescape", escape},
    {"format", format},
    {"lower", case_filter<LetterCase::kLower>},
    {"replace", replace_filter},
    {"safe", string_filter},
    {"string", string_filter},
    {"title", title},
    {"trim", trim},
    {"upper", case_filter<LetterCase::kUpper>},
    {"urlencode", urlencode},
    {"wordcount", wordcount},
};

}  // namespace

std::span<const FilterEntry> text_filters() { return kFilters; }

}  // namespace lattice::jinja
