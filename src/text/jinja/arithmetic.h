#pragma once

#include <cstdint>
#include <string_view>

#include "text/jinja/value.h"

namespace lattice::jinja {

enum class BinaryOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
};

/// Python's operator on two values. Integers have 64 bits: one that does not fit is an error.
/// Errors: EvalError for types without the operator, a division by zero or an overflow.
Value binary(BinaryOp op, const Value& a, const Value& b, Budget& budget);
Value negate(const Value& value);
Value plus(const Value& value);

/// a[start:stop:step] for a string, list, tuple or range; each bound None or an integer.
Value slice(const Value& value, const Value& start, const Value& stop, const Value& step,
            Budget& budget);

}  // namespace lattice::jinja
