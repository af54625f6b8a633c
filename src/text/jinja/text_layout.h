#pragma once

#include "text/jinja/text.h"

namespace lattice::jinja {

// str.center, ljust, rjust, zfill and expandtabs: `text` in a field of `width` characters.
Text center(const Text& text, std::int64_t width, const Text& fill, Budget& budget);
Text justify_left(const Text& text, std::int64_t width, const Text& fill, Budget& budget);
Text justify_right(const Text& text, std::int64_t width, const Text& fill, Budget& budget);
Text fill_zeros(const Text& text, std::int64_t width, Budget& budget);
Text expand_tabs(const Text& text, std::int64_t tab_size, Budget& budget);

}  // namespace lattice::jinja
