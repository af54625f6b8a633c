#pragma once

#include <memory>
#include <string>

#include "text/component_json.h"
#include "text/pre_tokenizer.h"

/// The makers behind make_pre_tokenizer(), one per "type"; errors as there.
namespace lattice::pre_tokenizers {

using Made = Result<std::unique_ptr<PreTokenizer>>;

Made make_bert(const Json& json, const std::string& where);
Made make_byte_level(const Json& json, const std::string& where);
Made make_delimiter_split(const Json& json, const std::string& where);
Made make_digits(const Json& json, const std::string& where);
Made make_fixed_length(const Json& json, const std::string& where);
Made make_metaspace(const Json& json, const std::string& where);
Made make_punctuation(const Json& json, const std::string& where);
Made make_sequence(const Json& json, const std::string& where);
Made make_split(const Json& json, const std::string& where);
Made make_unicode_scripts(const Json& json, const std::string& where);
Made make_whitespace(const Json& json, const std::string& where);
Made make_whitespace_split(const Json& json, const std::string& where);

}  // namespace lattice::pre_tokenizers
