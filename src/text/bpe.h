#pragma once

#include <memory>
#include <string>

#include "text/token_model.h"

namespace lattice {

/// Builds the byte-pair encoding that the "model" of a tokenizer.json describes. Errors:
/// kMalformed; kUnsupported for "dropout", which would make ids random.
Result<std::unique_ptr<TokenModel>> make_bpe(const Json& json, const std::string& where);

}  // namespace lattice
