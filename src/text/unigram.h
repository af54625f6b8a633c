#pragma once

#include <memory>
#include <string>

#include "text/token_model.h"

namespace lattice {

/// Builds the unigram language model that the "model" of a tokenizer.json describes: of all ways to
/// cut a word into pieces, the one with the highest sum of scores. Errors: kMalformed.
Result<std::unique_ptr<TokenModel>> make_unigram(const Json& json, const std::string& where);

}  // namespace lattice
