#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice::regex {

/// Translates a regular expression of a tokenizer file, which is in Oniguruma's syntax, to PCRE2's,
/// such that both match the same on every text: character classes and properties become explicit
/// ranges from the tables probed from the pinned library, case-insensitive parts become classes,
/// captures become plain groups, options and quantifiers are spelled out where the syntaxes differ.
///
/// Errors: kUnsupported for what cannot be translated faithfully (back references, \G, \K, \X,
/// subexpression calls, conditionals, absent groups, callouts, properties not tabulated, ignored
/// case where one character matches several), kMalformed for what the library refuses too. The
/// message names the construct and its byte offset in `pattern`, valid UTF-8.
Result<std::string> translate_to_pcre(std::string_view pattern);

}  // namespace lattice::regex
