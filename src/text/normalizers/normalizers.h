#pragma once

#include <memory>
#include <string>

#include "text/component_json.h"
#include "text/normalizer.h"

/// The makers behind make_normalizer(), one per "type"; errors as there.
namespace lattice::normalizers {

using Made = Result<std::unique_ptr<Normalizer>>;

Made make_bert(const Json& json, const std::string& where);
Made make_byte_level(const Json& json, const std::string& where);
Made make_lowercase(const Json& json, const std::string& where);
Made make_nfc(const Json& json, const std::string& where);
Made make_nfd(const Json& json, const std::string& where);
Made make_nfkc(const Json& json, const std::string& where);
Made make_nfkd(const Json& json, const std::string& where);
Made make_nmt(const Json& json, const std::string& where);
Made make_precompiled(const Json& json, const std::string& where);
Made make_prepend(const Json& json, const std::string& where);
Made make_replace(const Json& json, const std::string& where);
Made make_sequence(const Json& json, const std::string& where);
Made make_strip(const Json& json, const std::string& where);
Made make_strip_accents(const Json& json, const std::string& where);

}  // namespace lattice::normalizers
