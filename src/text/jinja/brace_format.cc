#include "text/jinja/brace_format.h"

#include <charconv>
#include <cmath>

#include "text/jinja/printf_format.h"
#include "text/jinja/repr.h"
#include "text/jinja/subscript.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::size_t read_size(std::string_view spec, std::size_t& at, Budget& budget) {
  std::size_t size = 0;
  for (; at < spec.size() && spec[at] >= '0' && spec[at] <= '9'; ++at) {
    size = size * 10 + static_cast<std::size_t>(spec[at] - '0');
    budget.check_bytes(size);
  }
  return size;
}

FormatSpec parse_spec(std::string_view text, Budget& budget) {
  FormatSpec spec;
  std::size_t at = 0;
  const std::size_t first = text.empty() ? 0 : utf8_length(text[0]);
  if (first < text.size() && is_align(text[first])) {
    spec.fill = Text(text.substr(0, first));
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[at++];
  }
  const auto accept = [&](char c) {
    return at < text.size() && text[at] == c ? (++at, true) : false;
  };
  if (accept('+')) {
    spec.sign = '+';
  } else if (accept(' ')) {
    spec.sign = ' ';
  } else if (accept('-')) {
    spec.sign = '-';
  }
  spec.alternate = accept('#');
  if (accept('0')) {
    if (spec.fill.empty()) spec.fill = Text("0");
    if (spec.align == 0) spec.align = '0';
  }
  spec.width = read_size(text, at, budget);
  if (accept(',')) {
    spec.grouping = ',';
  } else if (accept('_')) {
    spec.grouping = '_';
  }
  if (accept('.')) {
    const std::size_t begin = at;
    spec.precision = read_size(text, at, budget);
    if (at == begin) eval_fail("Format specifier missing precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) eval_fail("Invalid format specifier");
  return spec;
}

void write_padded(TextBuilder& out, const FormatSpec& spec, const Text& body, char align) {
  const std::size_t padding = spec.width > body.length() ? spec.width - body.length() : 0;
  const Text fill = spec.fill.empty() ? Text(" ") : spec.fill;
  const std::size_t before = align == '<' ? 0 : align == '^' ? padding / 2 : padding;
  out.pad(before, fill);
  out.append(body);
  out.pad(padding - before, fill);
}

// Digits in groups of three (four for hexadecimal), `digits` may have a fraction.
std::string grouped(const std::string& digits, char separator, std::size_t group) {
  const std::size_t whole =
      std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string result;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % group == 0) result += separator;
    result += digits[i];
  }
  return result + digits.substr(whole);
}

void write_number(TextBuilder& out, const FormatSpec& spec, bool negative, std::string digits) {
  std::string head = negative                             ? "-"
                     : spec.sign == '-' || spec.sign == 0 ? ""
                                                          : std::string(1, spec.sign);
  if (spec.align == '=' || spec.align == '0') {
    const Text fill = spec.fill.empty() ? Text(" ") : spec.fill;
    const bool zeros = fill.bytes() == "0";
    if (zeros && spec.grouping != 0) eval_fail("zero padding with grouping is not supported");
    const std::size_t size = head.size() + digits.size();
    out.append(head);
    out.pad(spec.width > size ? spec.width - size : 0, fill);
    return out.append(digits);
  }
  write_padded(out, spec, Text(head + digits), spec.align == 0 ? '>' : spec.align);
}

void format_integer(TextBuilder& out, const FormatSpec& spec, std::int64_t number) {
  if (spec.precision) eval_fail("Precision not allowed in integer format specifier");
  const bool negative = number < 0;
  const std::uint64_t magnitude =
      negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  std::string digits;
  std::string prefix;
  switch (spec.type) {
    case 'b':
      digits = fmt::format("{:b}", magnitude);
      prefix = "0b";
      break;
    case 'o':
      digits = fmt::format("{:o}", magnitude);
      prefix = "0o";
      break;
    case 'x':
      digits = fmt::format("{:x}", magnitude);
      prefix = "0x";
      break;
    case 'X':
      digits = fmt::format("{:X}", magnitude);
      prefix = "0X";
      break;
    default:
      digits = fmt::format("{}", magnitude);
  }
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, prefix.empty() ? 3 : 4);
  write_number(out, spec, negative, (spec.alternate ? prefix : "") + digits);
}

void format_real(TextBuilder& out, const FormatSpec& spec, double number) {
  const double magnitude = std::fabs(number);
  std::string digits;
  if (spec.type == 0 && !spec.precision) {
    digits = float_repr(magnitude);
  } else if (spec.type == 0) {
    digits = format_float(magnitude, 'g', std::max<std::size_t>(*spec.precision, 1), false);
    if (std::isfinite(magnitude) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  } else if (spec.type == '%') {
    digits = format_float(magnitude * 100, 'f', spec.precision.value_or(6), spec.alternate) + "%";
  } else {
    const char type = spec.type == 'n' ? 'g' : spec.type;
    digits = format_float(magnitude, type, spec.precision.value_or(6), spec.alternate);
  }
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, 3);
  write_number(out, spec, std::signbit(number) && !std::isnan(number), std::move(digits));
}

void format_text(TextBuilder& out, const FormatSpec& spec, const Text& text) {
  if (spec.type != 0 && spec.type != 's') {
    eval_fail("Unknown format code '{}' for object of type 'str'", spec.type);
  }
  if (spec.sign != 0) eval_fail("Sign not allowed in string format specifier");
  if (spec.grouping != 0) eval_fail("Cannot specify '{}' with 's'.", spec.grouping);
  if (spec.alternate) eval_fail("Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') eval_fail("'=' alignment not allowed in string format specifier");
  const std::size_t length = std::min(spec.precision.value_or(text.length()), text.length());
  const char align = spec.align == 0 || spec.align == '0' ? '<' : spec.align;
  write_padded(out, spec, text.slice_bytes(0, text.byte_of(length)), align);
}

class BraceFormatter {
 public:
  BraceFormatter(const Text& format, const CallArgs& args, Budget& budget)
      : format_(format), bytes_(format.bytes()), args_(args), budget_(budget) {}

  Text run() {
    TextBuilder out(budget_);
    expand(out, 0, bytes_.size(), 2);
    return out.take();
  }

 private:
  // Writes the bytes [at, end) with their fields replaced.
  void expand(TextBuilder& out, std::size_t at, std::size_t end, int depth) {
    if (depth == 0) eval_fail("Max string recursion exceeded");
    while (at < end) {
      const std::size_t brace = std::min(bytes_.find_first_of("{}", at), end);
      out.append(format_, at, brace);
      if (brace >= end) return;
      if (brace + 1 < end && bytes_[brace + 1] == bytes_[brace] && depth == 2) {
        out.append(format_, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (bytes_[brace] == '}') eval_fail("Single '}}' encountered in format string");
      at = field(out, brace + 1, end, depth);
    }
  }

  // Writes the field whose name starts at `begin`; returns what follows its closing brace.
  std::size_t field(TextBuilder& out, std::size_t begin, std::size_t end, int depth) {
    std::size_t close = begin;
    for (int open = 1; open > 0; ++close) {
      if (close >= end) eval_fail("expected '}}' before end of string");
      if (bytes_[close] == '{') ++open;
      if (bytes_[close] == '}') --open;
    }
    --close;
    std::size_t name_end = begin;
    bool in_brackets = false;
    for (; name_end < close; ++name_end) {
      const char c = bytes_[name_end];
      if (c == '[') in_brackets = true;
      if (c == ']') in_brackets = false;
      if (!in_brackets && (c == '!' || c == ':')) break;
    }
    Value value = lookup(bytes_.substr(begin, name_end - begin));
    std::size_t at = name_end;
    if (at < close && bytes_[at] == '!') {
      value = convert(value, at + 1 < close ? bytes_[at + 1] : ' ');
      at += 2;
      if (at < close && bytes_[at] != ':') eval_fail("expected ':' after conversion specifier");
    }
    TextBuilder spec(budget_);
    if (at < close) expand(spec, at + 1, close, depth - 1);
    append_formatted(out, value, spec.take().bytes());
    return close + 1;
  }

  Value convert(const Value& value, char kind) {
    if (kind == 's') return to_text(value, budget_);
    if (kind != 'r' && kind != 'a') eval_fail("Unknown conversion specifier {}", kind);
    TextBuilder repr(budget_);
    append_repr(repr, value);
    return repr.take();
  }

  Value lookup(std::string_view name) {
    const std::size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, first_end));
    for (std::size_t at = first_end; at < name.size();) {
      if (name[at] == '.') {
        const std::size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        if (end == at + 1) eval_fail("Empty attribute in format string");
        value = get_attribute(value, name.substr(at + 1, end - at - 1), budget_);
        at = end;
      } else if (name[at] == '[') {
        const std::size_t end = name.find(']', at);
        if (end == std::string_view::npos) eval_fail("Missing ']' in format string");
        value = get_item(value, index(name.substr(at + 1, end - at - 1)), budget_);
        at = end + 1;
      } else {
        eval_fail("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  static std::optional<std::size_t> number(std::string_view text) {
    std::size_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || end.ptr != text.data() + text.size() || end.ec != std::errc()) {
      return std::nullopt;
    }
    return value;
  }

  static Value index(std::string_view text) {
    if (const auto value = number(text)) return Value::number(*value);
    return Value::string(text);
  }

  Value argument(std::string_view name) {
    std::optional<std::size_t> position = number(name);
    if (name.empty() || position) {
      if (automatic_ && *automatic_ != name.empty()) {
        eval_fail("cannot switch between manual field specification and automatic field numbering");
      }
      automatic_ = name.empty();
      if (name.empty()) position = next_++;
      if (*position >= args_.positional.size()) {
        eval_fail("Replacement index {} out of range for positional args tuple", *position);
      }
      return args_.positional[*position];
    }
    for (const auto& [key, value] : args_.named) {
      if (key == name) return value;
    }
    eval_fail("{}", quote(name));
  }

  const Text& format_;
  std::string_view bytes_;
  const CallArgs& args_;
  Budget& budget_;
  std::size_t next_ = 0;
  std::optional<bool> automatic_;
};

}  // namespace

void append_formatted(TextBuilder& out, const Value& value, std::string_view spec_text) {
  if (spec_text.empty()) return append_str(out, value);
  const FormatSpec spec = parse_spec(spec_text, out.budget());
  if (value.is_string()) return format_text(out, spec, value.text());
  constexpr std::string_view kIntegerTypes = "bdoxXn";
  constexpr std::string_view kFloatTypes = "eEfFgG%n";
  const auto is_type = [&](std::string_view types) {
    return types.find(spec.type) != std::string_view::npos;
  };
  if (value.is_integer() && (spec.type == 0 || is_type(kIntegerTypes))) {
    return format_integer(out, spec, value.integer());
  }
  if (value.is_number() && (is_type(kFloatTypes) || (!value.is_integer() && spec.type == 0))) {
    return format_real(out, spec, value.real());
  }
  if (value.is_number()) {
    eval_fail("Unknown format code '{}' for object of type '{}'", spec.type, value.type_name());
  }
  eval_fail("unsupported format string passed to {}.__format__", value.type_name());
}

Text brace_format(const Text& format, const CallArgs& args, Budget& budget) {
  return BraceFormatter(format, args, budget).run();
}

}  // namespace lattice::jinja
