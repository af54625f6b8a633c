#pragma once

#include <string>
#include <string_view>

#include "io/config_reader.h"
#include "io/json.h"
#include "text/aligned_text.h"

namespace lattice {

/// A text pattern of a tokenizer file: {"String": "..."} or {"Regex": "..."}.
struct TextPattern {
  std::string text;
  bool is_regex = false;
};

/// The component's "type", or an error naming `where`: kMalformed when `json` is not an object with
/// one string "type" .
Result<std::string> component_type(const Json& json, const std::string& where);

/// kUnsupported, `where: unknown type "name"`.
tl::unexpected<Error> unknown_type(const std::string& where, std::string_view type);

/// The reader's finish(), made stricter: a key that nobody read is kUnsupported, because it could
/// change what the component does.
Result<void> finish_component(const ConfigReader& reader);

/// A required boolean, as the library's own reader demands.
bool require_bool(ConfigReader& reader, std::string_view key);

/// A required string of exactly one character.
char32_t require_character(ConfigReader& reader, std::string_view key);

/// The required member `key` as a pattern.
TextPattern require_pattern(ConfigReader& reader, std::string_view key);

}  // namespace lattice
