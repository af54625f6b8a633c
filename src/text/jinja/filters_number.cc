#include <cmath>

#include "base/parse_double.h"
#include "text/jinja/arguments.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/number_text.h"

namespace lattice::jinja {
namespace {

Value abs_filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("abs", args, {});
  if (input.is_undefined()) eval_fail("{}", input.undefined_message());
  if (input.is(Value::Kind::kFloat)) return std::fabs(input.real());
  if (!input.is_integer()) eval_fail("bad operand type for abs(): '{}'", input.type_name());
  return input.integer() < 0 ? negate(input) : Value(input.integer());
}

// int(number), or nullopt for nan.
std::optional<Value> truncated(double number) {
  if (std::isnan(number)) return std::nullopt;
  if (std::isinf(number)) eval_fail("cannot convert float infinity to integer");
  if (!(std::fabs(number) < 9223372036854775808.0)) eval_fail("an integer does not fit 64 bits");
  return static_cast<std::int64_t>(number);
}

Value int_filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("int", args, {"default", "base"});
  const Value fallback = bound.get(0, std::int64_t{0});
  if (input.is_undefined()) eval_fail("{}", input.undefined_message());
  if (input.is_integer()) return input.integer();
  if (input.is(Value::Kind::kFloat)) {
    if (const auto number = truncated(input.real())) return *number;
    return fallback;
  }
  if (!input.is_string()) return fallback;
  if (const auto number = parse_integer(input.text().bytes(), bound.integer(1, 10))) return *number;
  const auto real = parse_float(input.text().bytes());
  if (!real || std::isinf(*real)) return fallback;
  if (const auto number = truncated(*real)) return *number;
  return fallback;
}

Value float_filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("float", args, {"default"});
  if (input.is_undefined()) eval_fail("{}", input.undefined_message());
  if (input.is_number()) return input.real();
  if (input.is_string()) {
    if (const auto number = parse_float(input.text().bytes())) return *number;
  }
  return bound.get(0, 0.0);
}

Value round_integer(std::int64_t number, std::int64_t precision) {
  if (precision >= 0) return number;
  if (precision < -18) return std::int64_t{0};
  std::int64_t unit = 1;
  for (std::int64_t i = precision; i < 0; ++i) unit *= 10;
  const std::int64_t rest = ((number % unit) + unit) % unit;
  std::int64_t result = 0;
  if (__builtin_sub_overflow(number, rest, &result)) eval_fail("an integer does not fit 64 bits");
  const bool up = rest > unit - rest || (rest == unit - rest && (result / unit) % 2 != 0);
  if (up && __builtin_add_overflow(result, unit, &result)) {
    eval_fail("an integer does not fit 64 bits");
  }
  return result;
}

Value round_common(const Value& input, std::int64_t precision) {
  if (input.is_integer()) return round_integer(input.integer(), precision);
  const double number = input.real();
  if (!std::isfinite(number) || precision > 330) return number;
  if (precision < -310) return std::copysign(0.0, number);
  if (precision < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    return std::nearbyint(number / unit) * unit;
  }
  // The decimal form is exact, so that ties are those of the binary number, as in Python.
  const std::string text = fmt::format("{:.{}f}", number, precision);
  double result = 0;
  parse_double(text.data(), text.data() + text.size(), result);
  return result;
}

Value round_filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("round", args, {"precision", "method"});
  const std::int64_t precision = bound.integer(0, 0);
  const Text method = bound.text(1, "common");
  if (input.is_undefined()) eval_fail("{}", input.undefined_message());
  if (!input.is_number()) {
    eval_fail("type {} doesn't define __round__ method", input.type_name());
  }
  if (method.bytes() == "common") return round_common(input, precision);
  if (method.bytes() != "ceil" && method.bytes() != "floor") {
    eval_fail("method must be common, ceil or floor");
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = input.real() * unit;
  if (!std::isfinite(scaled)) eval_fail("cannot convert float infinity or NaN to integer");
  const double whole = method.bytes() == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  if (unit == 0) eval_fail("float division by zero");
  return (whole == 0 ? 0.0 : whole) / unit;
}

constexpr FilterEntry kFilters[] = {
    {"abs", abs_filter},
    {"float", float_filter},
    {"int", int_filter},
    {"round", round_filter},
};

}  // namespace

std::span<const FilterEntry> number_filters() { return kFilters; }

}  // namespace lattice::jinja
