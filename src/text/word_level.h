#pragma once

#include <memory>
#include <string>

#include "text/token_model.h"

namespace lattice {

/// Builds the model that looks whole words up, as the "model" of a tokenizer.json describes it.
/// Errors: kMalformed.
Result<std::unique_ptr<TokenModel>> make_word_level(const Json& json, const std::string& where);

}  // namespace lattice
