#include "text/jinja/printf_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja/repr.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

// One conversion of a format: %-8.3f.
struct Conversion {
  bool left = false, sign = false, space = false, zero = false, alternate = false;
  std::size_t width = 0;
  std::optional<std::size_t> precision;
  char type = 0;
};

class PrintfFormatter {
 public:
  PrintfFormatter(const Text& format, const Value& values, Budget& budget)
      : format_(format), bytes_(format.bytes()), values_(values), out_(budget) {}

  Text run() {
    while (at_ < bytes_.size()) {
      const std::size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.append(format_, at_, percent);
      at_ = percent;
      if (at_ < bytes_.size()) convert();
    }
    const bool all_used = values_.is(Value::Kind::kTuple)
                              ? next_ >= values_.sequence().items.size()
                              : next_ > 0 || named_ || takes_no_values();
    if (!all_used) eval_fail("not all arguments converted during string formatting");
    return out_.take();
  }

 private:
  // A dict or a list may be left over: it might be what names are looked up in.
  bool takes_no_values() const {
    return values_.is_dict() || values_.is(Value::Kind::kList) || values_.is(Value::Kind::kRange) ||
           values_.is_undefined();
  }

  char peek() const {
    if (at_ >= bytes_.size()) eval_fail("incomplete format");
    return bytes_[at_];
  }

  Value next_value() {
    if (values_.is(Value::Kind::kTuple)) {
      const auto& items = values_.sequence().items;
      if (next_ >= items.size()) eval_fail("not enough arguments for format string");
      return items[next_++];
    }
    if (next_ > 0) eval_fail("not enough arguments for format string");
    ++next_;
    return values_;
  }

  Value named_value() {
    if (!values_.is_dict()) eval_fail("format requires a mapping");
    const std::size_t begin = ++at_;
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ >= bytes_.size()) eval_fail("incomplete format key");
      if (bytes_[at_] == '(') ++depth;
      if (bytes_[at_] == ')') --depth;
    }
    const std::string_view name = bytes_.substr(begin, at_ - 1 - begin);
    const Value* value = values_.dict().find(name);
    if (value == nullptr) eval_fail("{}", quote(name));
    named_ = true;
    return *value;
  }

  std::size_t read_count(Conversion* conversion) {
    if (peek() == '*') {
      ++at_;
      const Value value = next_value();
      if (!value.is_integer()) eval_fail("* wants int");
      const std::int64_t count = value.integer();
      if (count < 0 && conversion != nullptr) conversion->left = true;
      const std::uint64_t size = static_cast<std::uint64_t>(count < 0 ? -(count + 1) : count);
      out_.budget().check_bytes(size);
      return count < 0 ? (conversion != nullptr ? size + 1 : 0) : size;
    }
    std::size_t count = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      count = count * 10 + static_cast<std::size_t>(peek() - '0');
      out_.budget().check_bytes(count);
    }
    return count;
  }

  void convert() {
    ++at_;
    std::optional<Value> value;
    if (peek() == '(') value = named_value();
    Conversion c;
    for (bool flag = true; flag;) {
      switch (peek()) {
        case '-':
          c.left = true;
          break;
        case '+':
          c.sign = true;
          break;
        case ' ':
          c.space = true;
          break;
        case '#':
          c.alternate = true;
          break;
        case '0':
          c.zero = true;
          break;
        default:
          flag = false;
      }
      if (flag) ++at_;
    }
    c.width = read_count(&c);
    if (peek() == '.') {
      ++at_;
      c.precision = read_count(nullptr);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    c.type = peek();
    ++at_;
    if (c.type == '%') return out_.append("%");
    write(c, value ? *value : next_value());
  }

  void write(const Conversion& c, const Value& value) {
    switch (c.type) {
      case 's':
        return write_text(c, to_text(value, out_.budget()));
      case 'r':
      case 'a': {
        TextBuilder repr(out_.budget());
        append_repr(repr, value);
        return write_text(c, repr.take());
      }
      case 'c':
        return write_character(c, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return write_integer(c, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        if (!value.is_number()) eval_fail("must be real number, not {}", value.type_name());
        const double number = value.real();
        return write_number(
            c, std::signbit(number) && !std::isnan(number),
            format_float(std::fabs(number), c.type, c.precision.value_or(6), c.alternate),
            std::isfinite(number));
      }
      default:
        eval_fail("unsupported format character '{}'", c.type);
    }
  }

  void write_text(const Conversion& c, const Text& text) {
    const std::size_t length = std::min(c.precision.value_or(text.length()), text.length());
    const std::size_t padding = c.width > length ? c.width - length : 0;
    if (!c.left) out_.pad(padding);
    out_.append(text, 0, text.byte_of(length));
    if (c.left) out_.pad(padding);
  }

  void write_character(const Conversion& c, const Value& value) {
    if (value.is_string() && value.text().length() == 1) return write_text(c, value.text());
    if (!value.is_integer()) eval_fail("%c requires int or char");
    const std::int64_t code = value.integer();
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      eval_fail("%c arg not in range(0x110000)");
    }
    TextBuilder text(out_.budget());
    text.append_code_point(static_cast<char32_t>(code), false);
    write_text(c, text.take());
  }

  void write_integer(const Conversion& c, const Value& value) {
    const bool decimal = c.type == 'd' || c.type == 'i' || c.type == 'u';
    if (!value.is_integer() && !(decimal && value.is(Value::Kind::kFloat))) {
      eval_fail("%{} format: a real number is required, not {}", c.type, value.type_name());
    }
    std::int64_t number = 0;
    if (value.is_integer()) {
      number = value.integer();
    } else {
      const double real = std::trunc(value.real());
      if (!(std::fabs(real) < 9.2e18)) eval_fail("an integer does not fit 64 bits");
      number = static_cast<std::int64_t>(real);
    }
    const bool negative = number < 0;
    const std::uint64_t magnitude =
        negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    std::string digits = c.type == 'o'   ? fmt::format("{:o}", magnitude)
                         : c.type == 'x' ? fmt::format("{:x}", magnitude)
                         : c.type == 'X' ? fmt::format("{:X}", magnitude)
                                         : fmt::format("{}", magnitude);
    if (c.precision && *c.precision > digits.size()) {
      digits.insert(0, *c.precision - digits.size(), '0');
    }
    const std::string prefix = !c.alternate || decimal ? "" : std::string("0") + c.type;
    write_number(c, negative, digits, true, prefix);
  }

  void write_number(const Conversion& c, bool negative, const std::string& digits, bool finite,
                    const std::string& prefix = "") {
    const std::string head = (negative ? "-" : c.sign ? "+" : c.space ? " " : "") + prefix;
    const std::size_t size = head.size() + digits.size();
    const std::size_t padding = c.width > size ? c.width - size : 0;
    const bool zeros = c.zero && !c.left && finite;
    if (!c.left && !zeros) out_.pad(padding);
    out_.append(head);
    if (zeros) out_.pad(padding, '0');
    out_.append(digits);
    if (c.left) out_.pad(padding);
  }

  const Text& format_;
  std::string_view bytes_;
  const Value& values_;
  TextBuilder out_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
  bool named_ = false;
};

// With the point and the trailing zeros that {fmt} writes differently from C.
std::string alternate_form(double magnitude, char kind, int digits) {
  const auto write = [&](char* buffer, std::size_t size) {
    if (kind == 'e') return std::snprintf(buffer, size, "%#.*e", digits, magnitude);
    if (kind == 'g') return std::snprintf(buffer, size, "%#.*g", digits, magnitude);
    return std::snprintf(buffer, size, "%#.*f", digits, magnitude);
  };
  std::string text(static_cast<std::size_t>(write(nullptr, 0)) + 1, '\0');
  write(text.data(), text.size());
  text.pop_back();
  return text;
}

}  // namespace

std::string format_float(double magnitude, char type, std::size_t precision, bool alternate) {
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  if (!std::isfinite(magnitude)) {
    const bool nan = std::isnan(magnitude);
    return upper ? (nan ? "NAN" : "INF") : (nan ? "nan" : "inf");
  }
  // A double has at most 1074 digits behind the point; Python pads with zeros as well.
  const int digits = static_cast<int>(std::min<std::size_t>(precision, 5000));
  const char kind = static_cast<char>(type | 0x20);
  std::string text;
  if (alternate) {
    text = alternate_form(magnitude, kind, digits);
  } else {
    text = kind == 'e'   ? fmt::format("{:.{}e}", magnitude, digits)
           : kind == 'g' ? fmt::format("{:.{}g}", magnitude, digits)
                         : fmt::format("{:.{}f}", magnitude, digits);
  }
  // An upper case type only changes what is not a digit.
  if (upper) std::replace(text.begin(), text.end(), 'e', 'E');
  return text;
}

Text printf_format(const Text& format, const Value& values, Budget& budget) {
  return PrintfFormatter(format, values, budget).run();
}

}  // namespace lattice::jinja
