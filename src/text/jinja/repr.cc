#include "text/jinja/repr.h"

#include <charconv>
#include <cmath>

#include "text/jinja/characters.h"
#include "text/jinja/object.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

using Kind = Value::Kind;

// A character of a string that is not shown as it is.
std::string escaped(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto code = static_cast<std::uint32_t>(c);
  if (code < 0x100) return fmt::format("\\x{:02x}", code);
  return code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
}

void append_quoted(TextBuilder& out, const Text& text) {
  const std::string_view bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string_view::npos;
  const char quote = has_single && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  UserCursor is_user(text);
  out.append(std::string_view(&quote, 1));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    if (c == '\\' || c == static_cast<char32_t>(quote)) {
      out.append("\\", is_user(begin));
      out.append(text, begin, at);
    } else if (is_printable(c)) {
      out.append(text, begin, at);
    } else {
      out.append(escaped(c), is_user(begin));
    }
  }
  out.append(std::string_view(&quote, 1));
}

void append_items(TextBuilder& out, const std::vector<Value>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(out, items[i]);
  }
}

void append_tuple(TextBuilder& out, const std::vector<Value>& items) {
  out.append("(");
  append_items(out, items);
  out.append(items.size() == 1 ? ",)" : ")");
}

void append_dict(TextBuilder& out, const Dict& dict) {
  out.append("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out.append(", ");
    first = false;
    append_repr(out, key);
    out.append(": ");
    append_repr(out, value);
  }
  out.append("}");
}

void append_view(TextBuilder& out, const Value& value) {
  const DictView& view = value.view();
  out.append(value.type_name());
  out.append("([");
  for (std::size_t i = 0; i < view.dict->size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(out, view_item(view, i));
  }
  out.append("])");
}

void append_range(TextBuilder& out, const Range& range) {
  if (range.step == 1) return out.append(fmt::format("range({}, {})", range.start, range.stop));
  out.append(fmt::format("range({}, {}, {})", range.start, range.stop, range.step));
}

void append_object(TextBuilder& out, Object& object) {
  if (const auto* space = std::get_if<Namespace>(&object.data)) {
    out.append("<Namespace ");
    append_dict(out, space->attributes);
    out.append(">");
  } else if (auto* loop = std::get_if<Loop>(&object.data)) {
    out.append(fmt::format("<LoopContext {}/{}>", loop->index0 + 1, loop->length()));
  } else {
    out.append(fmt::format("<{}>", object_type_name(object)));
  }
}

}  // namespace

void append_repr(TextBuilder& out, const Value& value) {
  const DepthGuard guard(out.budget());
  out.budget().step();
  switch (value.kind()) {
    case Kind::kUndefined:
      return out.append("Undefined");
    case Kind::kNone:
      return out.append("None");
    case Kind::kBool:
      return out.append(value.boolean() ? "True" : "False");
    case Kind::kInt:
      return out.append(fmt::format("{}", value.integer()));
    case Kind::kFloat:
      return out.append(float_repr(value.real()));
    case Kind::kString:
      return append_quoted(out, value.text());
    case Kind::kList:
      out.append("[");
      append_items(out, value.sequence().items);
      return out.append("]");
    case Kind::kTuple:
      return append_tuple(out, value.sequence().items);
    case Kind::kDict:
      return append_dict(out, value.dict());
    case Kind::kRange:
      return append_range(out, value.range());
    case Kind::kView:
      return append_view(out, value);
    case Kind::kGenerator:
      return out.append("<generator object>");
    case Kind::kObject:
      return append_object(out, value.object());
  }
}

void append_str(TextBuilder& out, const Value& value) {
  if (value.is_string()) return out.append(value.text());
  if (!value.is_undefined()) append_repr(out, value);
}

Text to_text(const Value& value, Budget& budget) {
  if (value.is_string()) return value.text();
  TextBuilder out(budget);
  append_str(out, value);
  return out.take();
}

std::string float_repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::size_t digits_of_exponent = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits_of_exponent, text.data() + text.size(), exponent);
  std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (digits.size() > 1) mantissa += "." + digits.substr(1);
    return fmt::format("{}{}e{}{:02}", sign, mantissa, exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string quote(std::string_view text) {
  Budget budget(Limits{});
  TextBuilder out(budget);
  append_quoted(out, Text(text));
  return std::string(out.take().bytes());
}

}  // namespace lattice::jinja
