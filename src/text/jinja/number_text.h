#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lattice::jinja {

/// int(text, base): white space around it, a sign, a base prefix and single underscores are fine.
/// nullopt when it is no number. Errors: EvalError when it does not fit 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t base);

/// float(text), with inf, infinity and nan.
std::optional<double> parse_float(std::string_view text);

}  // namespace lattice::jinja
