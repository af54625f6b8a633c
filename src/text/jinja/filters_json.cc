#include <cmath>

#include "text/jinja/arguments.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/repr.h"
#include "text/jinja/sorting.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

// Writes JSON as Python's json.dumps does.
class JsonDumper {
 public:
  struct Style {
    bool ensure_ascii = false;
    bool sort_keys = false;
    std::optional<Text> indent;
    Text item_separator = Text(", ");
    Text key_separator = Text(": ");
  };

  JsonDumper(Style style, TextBuilder& out) : style_(std::move(style)), out_(out) {}

  void write(const Value& value) {
    using Kind = Value::Kind;
    const DepthGuard guard(out_.budget());
    out_.budget().step();
    switch (value.kind()) {
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        return out_.append(scalar(value));
      case Kind::kString:
        return write_string(value.text());
      case Kind::kList:
      case Kind::kTuple:
        return write_list(value.sequence().items);
      case Kind::kDict:
        return write_dict(value.dict());
      default:
        eval_fail("Object of type {} is not JSON serializable", value.type_name());
    }
  }

 private:
  static std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (value.is(Value::Kind::kBool)) return value.boolean() ? "true" : "false";
    if (value.is(Value::Kind::kInt)) return fmt::format("{}", value.integer());
    const double number = value.real();
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
    return float_repr(number);
  }

  static std::string escaped(char32_t c) {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\f':
        return "\\f";
      case '\b':
        return "\\b";
      default:
        break;
    }
    const auto code = static_cast<std::uint32_t>(c);
    if (code < 0x10000) return fmt::format("\\u{:04x}", code);
    const std::uint32_t high = code - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (high >> 10), 0xDC00 + (high & 0x3FF));
  }

  void write_string(const Text& text) {
    const std::string_view bytes = text.bytes();
    UserCursor is_user(text);
    out_.append("\"");
    std::size_t plain = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t begin = at;
      const char32_t c = next_code_point(bytes, at);
      if (c >= ' ' && c != '"' && c != '\\' && (c < 0x7F || !style_.ensure_ascii)) continue;
      if (c == 0x7F) continue;
      out_.append(text, plain, begin);
      out_.append(escaped(c), is_user(begin));
      plain = at;
    }
    out_.append(text, plain, bytes.size());
    out_.append("\"");
  }

  void new_line() {
    if (!style_.indent) return;
    out_.append("\n");
    out_.pad(level_, *style_.indent);
  }

  // Writes what is between brackets, item by item.
  template <typename Items, typename Write>
  void write_items(const char* open, const char* close, const Items& items, Write write_item) {
    out_.append(open);
    if (items.empty()) return out_.append(close);
    ++level_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_.append(style_.item_separator);
      first = false;
      new_line();
      write_item(item);
    }
    --level_;
    new_line();
    out_.append(close);
  }

  void write_list(const std::vector<Value>& items) {
    write_items("[", "]", items, [&](const Value& item) { write(item); });
  }

  void write_entry(const Value& key, const Value& value) {
    if (key.is_string()) {
      write_string(key.text());
    } else if (key.is_none() || key.is_number()) {
      out_.append("\"");
      out_.append(scalar(key));
      out_.append("\"");
    } else {
      eval_fail("keys must be str, int, float, bool or None, not {}", key.type_name());
    }
    out_.append(style_.key_separator);
    write(value);
  }

  void write_dict(const Dict& dict) {
    if (!style_.sort_keys) {
      return write_items("{", "}", dict.entries(),
                         [&](const Dict::Entry& entry) { write_entry(entry.first, entry.second); });
    }
    std::vector<Keyed> keyed;
    for (const auto& [key, value] : dict.entries()) keyed.push_back({key, key});
    write_items("{", "}", sorted(std::move(keyed), false, out_.budget()),
                [&](const Value& key) { write_entry(key, *dict.find(key)); });
  }

  Style style_;
  TextBuilder& out_;
  std::size_t level_ = 0;
};

Text indent_of(const Value& value, Budget& budget) {
  if (value.is_string()) return value.text();
  const std::int64_t width = require_integer(value);
  TextBuilder out(budget);
  if (width > 0) out.pad(static_cast<std::size_t>(width));
  return out.take();
}

Value tojson(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"});
  Budget& budget = evaluator.budget();
  JsonDumper::Style style;
  style.ensure_ascii = bound.flag(0, false);
  style.sort_keys = bound.flag(3, false);
  if (!bound.is_absent(1)) {
    style.indent = indent_of(bound.at(1), budget);
    style.item_separator = Text(",");
  }
  if (!bound.is_absent(2)) {
    const auto separators = to_items(bound.at(2), budget);
    if (separators.size() != 2) eval_fail("separators must be a pair");
    style.item_separator = require_text(separators[0]);
    style.key_separator = require_text(separators[1]);
  }
  TextBuilder out(budget);
  JsonDumper(std::move(style), out).write(input);
  return out.take();
}

constexpr FilterEntry kFilters[] = {{"tojson", tojson}};

}  // namespace

std::span<const FilterEntry> json_filters() { return kFilters; }

}  // namespace lattice::jinja
