#pragma once

#include <optional>
#include <string_view>

#include "text/regex/code_point_set.h"

namespace lattice::regex {

/// The set that \p{name} means to the pinned library's engine: a general category (L, Lu,
/// Uppercase_Letter, ...), a script (Han), a POSIX class (alpha) or a binary property (Alphabetic).
/// Case, spaces, '-' and '_' in the name do not matter. nullopt for names that are unknown, or
/// known there but not tabulated here (blocks, ages).
std::optional<CodePointSet> find_property(std::string_view name);

/// The set of [[:name:]]; nullopt if there is none.
std::optional<CodePointSet> find_posix_class(std::string_view name);

/// Adds to `set` every character that matches one of its characters when case is ignored.
void close_over_case(CodePointSet& set);

/// Whether `c`, when case is ignored, also matches a sequence of several characters ("ß", "ss").
bool folds_to_several(char32_t c);

/// Whether some character matches a part of `text` of more than one character when case is ignored.
bool contains_multiple_fold(std::u32string_view text);

}  // namespace lattice::regex
