#pragma once

#include "text/jinja/value.h"

namespace lattice::jinja {

/// format % values: values is a tuple, a dict for %(name)s, or the one value.
/// Errors: EvalError as Python's; conversions a, o, x, X, e, E, f, F, g, G, d, i, u, c, r, s, %.
Text printf_format(const Text& format, const Value& values, Budget& budget);

/// Python's format mini-language: [[fill]align][sign][#][0][width][,|_][.precision][type].
struct FormatSpec {
  Text fill;
  char align = 0;  ///< < > ^ =, or 0 for the type's own
  char sign = 0;
  bool alternate = false;
  char grouping = 0;
  std::size_t width = 0;
  std::optional<std::size_t> precision;
  char type = 0;
};

/// The digits of `magnitude` (not negative) in a float format e, f, g, E, F, G or %; `alternate`
/// keeps the point and trailing zeros.
std::string format_float(double magnitude, char type, std::size_t precision, bool alternate);

/// text.format(...) writes one value by its spec. Errors: EvalError.
void append_formatted(TextBuilder& out, const Value& value, std::string_view spec);

}  // namespace lattice::jinja
