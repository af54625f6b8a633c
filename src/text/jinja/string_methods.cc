#include "text/jinja/string_methods.h"

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/brace_format.h"
#include "text/jinja/characters.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_case.h"
#include "text/jinja/text_layout.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {
namespace {

template <LetterCase kCase>
Value change(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("str method", args, {});
  return change_case(self.text(), kCase, evaluator.budget());
}

template <bool (*kTest)(const Text&)>
Value ask(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("str method", args, {});
  evaluator.budget().step_bytes(self.text().size());
  return kTest(self.text());
}

template <Side kSide>
Value strip_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("strip", args, {"chars"});
  evaluator.budget().step_bytes(self.text().size());
  if (bound.is_absent(0)) return strip(self.text(), kSide, nullptr);
  return strip(self.text(), kSide, &require_text(bound.at(0)));
}

Value make_list(std::vector<Text> parts, Budget& budget) {
  budget.step(parts.size());
  std::vector<Value> values;
  values.reserve(parts.size());
  for (Text& part : parts) values.emplace_back(std::move(part));
  return Value::list(std::move(values));
}

template <bool kFromRight>
Value split_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("split", args, {"sep", "maxsplit"});
  Budget& budget = evaluator.budget();
  const std::int64_t count = bound.integer(1, -1);
  const Text& text = self.text();
  budget.step_bytes(text.size());
  if (bound.is_absent(0)) {
    return make_list(kFromRight ? split_spaces_right(text, count) : split_spaces(text, count),
                     budget);
  }
  const Text& separator = require_text(bound.at(0));
  if (separator.empty()) eval_fail("empty separator");
  return make_list(kFromRight ? split_right(text, separator.bytes(), count)
                              : split(text, separator.bytes(), count),
                   budget);
}

template <bool kFromRight>
Value partition(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("partition", args, {"sep"}, 1);
  const Text& separator = require_text(bound.at(0));
  if (separator.empty()) eval_fail("empty separator");
  const Text& text = self.text();
  evaluator.budget().step_bytes(text.size());
  const std::size_t at = kFromRight ? text.bytes().rfind(separator.bytes())
                                    : find_bytes(text.bytes(), separator.bytes(), 0);
  if (at == kNotFound) {
    if (kFromRight) return Value::tuple({Text(), Text(), text});
    return Value::tuple({text, Text(), Text()});
  }
  return Value::tuple(
      {text.slice_bytes(0, at), separator, text.slice_bytes(at + separator.size(), text.size())});
}

Value splitlines(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("splitlines", args, {"keepends"});
  return make_list(split_lines(self.text(), bound.flag(0, false)), evaluator.budget());
}

Value replace_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  if (!args.named.empty()) eval_fail("str.replace() takes no keyword arguments");
  const Bound bound("replace", args, {"old", "new", "count"}, 2);
  return replace(self.text(), require_text(bound.at(0)), require_text(bound.at(1)),
                 bound.integer(2, -1), evaluator.budget());
}

// The bytes of a text that start and stop arguments select; nullopt when start is behind the text.
std::optional<Span> selected(const Text& text, const Bound& bound) {
  const auto length = static_cast<std::int64_t>(text.length());
  const auto resolve = [&](std::size_t i, std::int64_t missing) {
    std::int64_t at = bound.is_absent(i) ? missing : bound.integer(i, missing);
    if (at < 0) at = std::max<std::int64_t>(at + length, 0);
    return at;
  };
  const std::int64_t start = resolve(1, 0);
  const std::int64_t stop = std::min(resolve(2, length), length);
  if (start > length || start > stop) return std::nullopt;
  return Span{text.byte_of(static_cast<std::size_t>(start)),
              text.byte_of(static_cast<std::size_t>(stop))};
}

template <bool kAtEnd>
Value starts_or_ends(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound(kAtEnd ? "endswith" : "startswith", args, {"affix", "start", "end"}, 1);
  const auto span = selected(self.text(), bound);
  const auto matches = [&](const Value& affix) {
    const std::string_view bytes = require_text(affix).bytes();
    evaluator.budget().step_bytes(bytes.size());
    if (!span) return false;
    const std::string_view part = self.text().bytes().substr(span->begin, span->end - span->begin);
    return kAtEnd ? part.ends_with(bytes) : part.starts_with(bytes);
  };
  const Value& affixes = bound.at(0);
  if (!affixes.is(Value::Kind::kTuple)) return matches(affixes);
  const auto& items = affixes.sequence().items;
  return std::any_of(items.begin(), items.end(), matches);
}

// The index of an occurrence, or -1.
template <bool kFromRight>
std::int64_t locate(Evaluator& evaluator, const Value& self, const Bound& bound) {
  const Text& text = self.text();
  const std::string_view needle = require_text(bound.at(0)).bytes();
  const auto span = selected(text, bound);
  evaluator.budget().step_bytes(text.size());
  if (!span) return -1;
  const std::string_view part = text.bytes().substr(0, span->end);
  std::size_t at = kNotFound;
  if (kFromRight) {
    at = part.rfind(needle);
    if (at != kNotFound && at < span->begin) at = kNotFound;
  } else {
    at = find_bytes(part, needle, span->begin);
  }
  return at == kNotFound ? -1 : static_cast<std::int64_t>(text.index_of(at));
}

template <bool kFromRight, bool kMustExist>
Value find_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("find", args, {"sub", "start", "end"}, 1);
  const std::int64_t at = locate<kFromRight>(evaluator, self, bound);
  if (kMustExist && at < 0) eval_fail("substring not found");
  return at;
}

Value count(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("count", args, {"sub", "start", "end"}, 1);
  const Text& text = self.text();
  const std::string_view needle = require_text(bound.at(0)).bytes();
  const auto span = selected(text, bound);
  evaluator.budget().step_bytes(text.size());
  if (!span) return std::int64_t{0};
  if (needle.empty())
    return Value::number(text.index_of(span->end) - text.index_of(span->begin) + 1);
  std::int64_t count = 0;
  const std::string_view part = text.bytes().substr(0, span->end);
  for (std::size_t at = span->begin; (at = find_bytes(part, needle, at)) != kNotFound;) {
    ++count;
    at += needle.size();
  }
  return count;
}

Value join_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("join", args, {"iterable"}, 1);
  TextBuilder out(evaluator.budget());
  Cursor cursor(bound.at(0));
  Value item;
  for (bool first = true; cursor.next(item); first = false) {
    evaluator.budget().step();
    if (!first) out.append(self.text());
    if (!item.is_string()) {
      eval_fail("sequence item: expected str instance, {} found", item.type_name());
    }
    out.append(item.text());
  }
  return out.take();
}

Value format_method(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  return brace_format(self.text(), args, evaluator.budget());
}

Value remove_prefix(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("removeprefix", args, {"prefix"}, 1);
  const std::string_view prefix = require_text(bound.at(0)).bytes();
  const Text& text = self.text();
  return text.bytes().starts_with(prefix) ? text.slice_bytes(prefix.size(), text.size()) : text;
}

Value remove_suffix(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("removesuffix", args, {"suffix"}, 1);
  const std::string_view suffix = require_text(bound.at(0)).bytes();
  const Text& text = self.text();
  return text.bytes().ends_with(suffix) ? text.slice_bytes(0, text.size() - suffix.size()) : text;
}

Value zfill(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("zfill", args, {"width"}, 1);
  return fill_zeros(self.text(), bound.integer(0, 0), evaluator.budget());
}

Value expandtabs(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("expandtabs", args, {"tabsize"});
  return expand_tabs(self.text(), bound.integer(0, 8), evaluator.budget());
}

template <Text (*kJustify)(const Text&, std::int64_t, const Text&, Budget&)>
Value justify(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("justify", args, {"width", "fillchar"}, 1);
  return kJustify(self.text(), bound.integer(0, 0), bound.text(1, " "), evaluator.budget());
}

constexpr MethodEntry kMethods[] = {
    {"capitalize", change<LetterCase::kCapitalize>},
    {"center", justify<center>},
    {"count", count},
    {"endswith", starts_or_ends<true>},
    {"expandtabs", expandtabs},
    {"find", find_method<false, false>},
    {"format", format_method},
    {"index", find_method<false, true>},
    {"isalnum", ask<is_alphanumeric_text>},
    {"isalpha", ask<is_alpha_text>},
    {"isascii", ask<is_ascii_text>},
    {"isdecimal", ask<is_decimal_text>},
    {"isdigit", ask<is_digit_text>},
    {"islower", ask<is_lower_text>},
    {"isnumeric", ask<is_numeric_text>},
    {"isprintable", ask<is_printable_text>},
    {"isspace", ask<is_space_text>},
    {"istitle", ask<is_title_text>},
    {"isupper", ask<is_upper_text>},
    {"join", join_method},
    {"ljust", justify<justify_left>},
    {"lower", change<LetterCase::kLower>},
    {"lstrip", strip_method<Side::kLeft>},
    {"partition", partition<false>},
    {"removeprefix", remove_prefix},
    {"removesuffix", remove_suffix},
    {"replace", replace_method},
    {"rfind", find_method<true, false>},
    {"rindex", find_method<true, true>},
    {"rjust", justify<justify_right>},
    {"rpartition", partition<true>},
    {"rsplit", split_method<true>},
    {"rstrip", strip_method<Side::kRight>},
    {"split", split_method<false>},
    {"splitlines", splitlines},
    {"startswith", starts_or_ends<false>},
    {"strip", strip_method<Side::kBoth>},
    {"swapcase", change<LetterCase::kSwap>},
    {"title", change<LetterCase::kTitle>},
    {"upper", change<LetterCase::kUpper>},
    {"zfill", zfill},
};

}  // namespace

std::span<const MethodEntry> string_methods() { return kMethods; }

}  // namespace lattice::jinja
