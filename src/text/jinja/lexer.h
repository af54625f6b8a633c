#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/token.h"

namespace lattice::jinja {

/// Splits a template into tokens, with trim_blocks and lstrip_blocks: the newline after a block tag
/// and the spaces before it on its line go, unless the tag says + there; - removes all white space.
/// `name` prefixes messages. Errors: LatticeError(kMalformed).
std::vector<Token> tokenize(std::string_view source, const std::string& name);

/// The text of a string literal, given without its quotes.
/// Errors: LatticeError(kMalformed, kUnsupported for \N{...}).
std::string unescape(std::string_view literal, const std::string& where);

/// "[jinja] name:line", which starts every message about a template.
std::string place(const std::string& name, std::uint32_t line);

}  // namespace lattice::jinja
