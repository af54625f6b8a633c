#include "text/jinja/arithmetic.h"

#include <cmath>

#include "text/jinja/printf_format.h"

namespace lattice::jinja {
namespace {

using Kind = Value::Kind;

std::string_view symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSubtract:
      return "-";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kFloorDivide:
      return "//";
    case BinaryOp::kModulo:
      return "%";
    case BinaryOp::kPower:
      return "** or pow()";
  }
  return "?";
}

[[noreturn]] void overflow() { eval_fail("an integer does not fit 64 bits"); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) eval_fail("integer division or modulo by zero");
  if (b == -1) {
    if (a == INT64_MIN) overflow();
    return -a;
  }
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) eval_fail("integer modulo by zero");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double modulo(double a, double b) {
  if (b == 0) eval_fail("float modulo");
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  if ((b < 0) != (rest < 0)) rest += b;
  return rest;
}

// As CPython's float_divmod computes it.
double floor_divide(double a, double b) {
  if (b == 0) eval_fail("float floor division by zero");
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

double power(double a, double b) {
  if (a == 0 && b < 0) eval_fail("0.0 cannot be raised to a negative power");
  const double result = std::pow(a, b);
  if (std::isnan(result) && !std::isnan(a) && !std::isnan(b)) {
    eval_fail("complex numbers are not supported");
  }
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    eval_fail("numerical result out of range");
  }
  return result;
}

Value power(std::int64_t a, std::int64_t b) {
  if (b < 0) return power(static_cast<double>(a), static_cast<double>(b));
  std::int64_t result = 1;
  for (std::int64_t base = a; b > 0;) {
    if ((b & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    b >>= 1;
    if (b > 0 && __builtin_mul_overflow(base, base, &base)) overflow();
  }
  return result;
}

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

// The double nearest to the exact quotient, as Python's. A wider floating-point type would round
// twice, and some systems have none.
double divide(std::int64_t a, std::int64_t b) {
  const std::uint64_t divisor = magnitude(b);
  std::uint64_t quotient = magnitude(a) / divisor;
  std::uint64_t rest = magnitude(a) % divisor;
  int exponent = 0;
  // Two bits more than a double holds, the last of which stands for all that follow.
  for (; rest != 0 && quotient < (std::uint64_t{1} << 54); --exponent) {
    // The rest is less than the divisor, at most 2^63: doubling it fits.
    rest *= 2;
    quotient = quotient * 2 + (rest >= divisor ? 1 : 0);
    if (rest >= divisor) rest -= divisor;
  }
  if (rest != 0) quotient |= 1;
  const double result = std::ldexp(static_cast<double>(quotient), exponent);
  return (a < 0) != (b < 0) ? -result : result;
}

Value integers(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case BinaryOp::kAdd:
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryOp::kSubtract:
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOp::kMultiply:
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOp::kDivide:
      if (b == 0) eval_fail("division by zero");
      return divide(a, b);
    case BinaryOp::kFloorDivide:
      return floor_divide(a, b);
    case BinaryOp::kModulo:
      return modulo(a, b);
    case BinaryOp::kPower:
      return power(a, b);
  }
  if (overflows) overflow();
  return result;
}

Value floats(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSubtract:
      return a - b;
    case BinaryOp::kMultiply:
      return a * b;
    case BinaryOp::kDivide:
      if (b == 0) eval_fail("float division by zero");
      return a / b;
    case BinaryOp::kFloorDivide:
      return floor_divide(a, b);
    case BinaryOp::kModulo:
      return modulo(a, b);
    case BinaryOp::kPower:
      return power(a, b);
  }
  return {};
}

Value make_sequence(Kind kind, std::vector<Value> items) {
  return kind == Kind::kList ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value repeat(const Value& value, std::int64_t count, Budget& budget) {
  const auto times = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
  if (value.is_string()) {
    TextBuilder out(budget);
    if (!value.text().empty()) out.pad(times, value.text());
    return out.take();
  }
  const auto& items = value.sequence().items;
  budget.check_repeat(times, items.size() * sizeof(Value));
  budget.step(times * items.size());
  std::vector<Value> result;
  if (!items.empty()) {
    for (std::uint64_t i = 0; i < times; ++i) {
      result.insert(result.end(), items.begin(), items.end());
    }
  }
  return make_sequence(value.kind(), std::move(result));
}

Value concatenate(const Value& a, const Value& b, Budget& budget) {
  if (a.is_string()) {
    TextBuilder out(budget);
    out.append(a.text());
    out.append(b.text());
    return out.take();
  }
  std::vector<Value> items = a.sequence().items;
  const auto& more = b.sequence().items;
  budget.step(items.size() + more.size());
  budget.check_repeat(items.size() + more.size(), sizeof(Value));
  items.insert(items.end(), more.begin(), more.end());
  return make_sequence(a.kind(), std::move(items));
}

bool is_repeatable(const Value& value) { return value.is_string() || value.is_sequence(); }

// A bound of a slice, or nullopt for None.
std::optional<std::int64_t> bound(const Value& value) {
  if (value.is_none()) return std::nullopt;
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (!value.is_integer()) eval_fail("slice indices must be integers or None");
  return value.integer();
}

struct Bounds {
  std::int64_t start = 0, stop = 0, step = 1, count = 0;
};

Bounds resolve(std::int64_t size, const Value& start, const Value& stop, const Value& step) {
  Bounds bounds;
  bounds.step = bound(step).value_or(1);
  if (bounds.step == 0) eval_fail("slice step cannot be zero");
  if (bounds.step == INT64_MIN) bounds.step = -INT64_MAX;
  const bool forward = bounds.step > 0;
  const auto clamp = [&](std::optional<std::int64_t> value, std::int64_t missing) {
    if (!value) return missing;
    std::int64_t at = *value;
    if (at < 0) {
      at += size;
      if (at < 0) at = forward ? 0 : -1;
    } else if (at >= size) {
      at = forward ? size : size - 1;
    }
    return at;
  };
  bounds.start = clamp(bound(start), forward ? 0 : size - 1);
  const std::int64_t end = bounds.stop = clamp(bound(stop), forward ? size : -1);
  if (forward && bounds.start < end) {
    bounds.count = (end - bounds.start - 1) / bounds.step + 1;
  } else if (!forward && end < bounds.start) {
    bounds.count = (bounds.start - end - 1) / -bounds.step + 1;
  }
  return bounds;
}

Text slice_text(const Text& text, const Bounds& bounds, Budget& budget) {
  const auto index = [](std::int64_t at) { return static_cast<std::size_t>(at); };
  if (bounds.count == 0) return Text();
  if (bounds.step == 1) {
    const std::size_t begin = text.byte_of(index(bounds.start));
    const std::size_t end = text.byte_of(index(bounds.start + bounds.count));
    budget.step_bytes(end - begin);
    return text.slice_bytes(begin, end);
  }
  TextBuilder out(budget);
  budget.step(index(bounds.count));
  for (std::int64_t i = 0; i < bounds.count; ++i) {
    const std::size_t at = index(bounds.start + i * bounds.step);
    out.append(text, text.byte_of(at), text.byte_of(at + 1));
  }
  return out.take();
}

}  // namespace

Value binary(BinaryOp op, const Value& a, const Value& b, Budget& budget) {
  if (op == BinaryOp::kModulo && a.is_string()) return printf_format(a.text(), b, budget);
  if (a.is_integer() && b.is_integer()) return integers(op, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return floats(op, a.real(), b.real());
  if (op == BinaryOp::kAdd && is_repeatable(a) && a.kind() == b.kind()) {
    return concatenate(a, b, budget);
  }
  if (op == BinaryOp::kMultiply && is_repeatable(a) && b.is_integer()) {
    return repeat(a, b.integer(), budget);
  }
  if (op == BinaryOp::kMultiply && a.is_integer() && is_repeatable(b)) {
    return repeat(b, a.integer(), budget);
  }
  if (a.is_undefined()) eval_fail("{}", a.undefined_message());
  if (b.is_undefined()) eval_fail("{}", b.undefined_message());
  eval_fail("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), a.type_name(),
            b.type_name());
}

Value negate(const Value& value) {
  if (value.is(Kind::kFloat)) return -value.real();
  if (value.is_integer()) return integers(BinaryOp::kSubtract, 0, value.integer());
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  eval_fail("bad operand type for unary -: '{}'", value.type_name());
}

Value plus(const Value& value) {
  if (value.is(Kind::kFloat)) return value;
  if (value.is_integer()) return value.integer();
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  eval_fail("bad operand type for unary +: '{}'", value.type_name());
}

Value slice(const Value& value, const Value& start, const Value& stop, const Value& step,
            Budget& budget) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (value.is_string()) {
    const Text& text = value.text();
    const auto size = static_cast<std::int64_t>(text.length());
    return slice_text(text, resolve(size, start, stop, step), budget);
  }
  if (value.is_sequence()) {
    const auto& items = value.sequence().items;
    const Bounds bounds = resolve(static_cast<std::int64_t>(items.size()), start, stop, step);
    budget.step(static_cast<std::uint64_t>(bounds.count));
    std::vector<Value> result;
    result.reserve(static_cast<std::size_t>(bounds.count));
    for (std::int64_t i = 0; i < bounds.count; ++i) {
      result.push_back(items[static_cast<std::size_t>(bounds.start + i * bounds.step)]);
    }
    return make_sequence(value.kind(), std::move(result));
  }
  if (value.is(Kind::kRange)) {
    const Range& range = value.range();
    const Bounds bounds = resolve(static_cast<std::int64_t>(range.size), start, stop, step);
    Range part;
    part.start = range.start + bounds.start * range.step;
    part.step = range.step * bounds.step;
    part.size = static_cast<std::uint64_t>(bounds.count);
    part.stop = range.start + bounds.stop * range.step;
    return std::make_shared<const Range>(part);
  }
  eval_fail("'{}' object cannot be sliced", value.type_name());
}

}  // namespace lattice::jinja
