#pragma once

#include <span>

#include "engine/generation/language_model.h"
#include "lattice/generation.h"

namespace lattice {

/// Windows of `window` tokens, `stride` apart, each predicting the tokens that the one before did
/// not; `ids` has at least two tokens, and 1 <= stride < window.
Perplexity measure_perplexity(const LanguageModel& model, std::span<const std::int32_t> ids,
                              std::size_t window, std::size_t stride);

}  // namespace lattice
