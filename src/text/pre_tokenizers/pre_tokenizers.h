#pragma once

#include <memory>
#include <string>

#include "text/component_json.h"
#include "text/pre_tokenizer.h"

/// The makers behind make_pre_tokenizer(), one per "type"; errors as there.
namespace lattice::pre_tokenizers {

using Made = Result<std::unique_ptr<PreTokenizer>>;

Made make_sequence(const Json& json, const std::string& where);

}  // namespace lattice::pre_tokenizers
