#pragma once

#include <string>
#include <vector>

#include "lattice/tokenizer.h"

namespace lattice {

/// Parts of `document` of at most `window` tokens each, in order, cut between tokens; each begins
/// a quarter of a window before the end of the one before. One part, the whole, if it fits. Throws
/// like Tokenizer::encode; `window` is at least 4.
std::vector<std::string> document_windows(const Tokenizer& tokenizer, const std::string& document,
                                          std::size_t window);

}  // namespace lattice
