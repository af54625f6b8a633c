#include "text/component_json.h"

#include "text/utf8.h"

namespace lattice {

Result<std::string> component_type(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    return fail(ErrorCode::kMalformed, "{}: expected an object, got {}", where, json.kind_name());
  }
  ConfigReader reader(json, where);
  std::string type = reader.require_string("type");
  if (auto status = reader.finish(); !status) return forward_error(status);
  return type;
}

tl::unexpected<Error> unknown_type(const std::string& where, std::string_view type) {
  return fail(ErrorCode::kUnsupported, "{}: unknown type \"{}\"", where, type);
}

Result<void> finish_component(const ConfigReader& reader) {
  if (auto status = reader.finish(); !status) return status;
  for (const std::string& key : reader.unread_keys()) {
    if (key == "type") continue;
    return fail(ErrorCode::kUnsupported, "{}: unknown key \"{}\"", reader.source(), key);
  }
  return {};
}

bool require_bool(ConfigReader& reader, std::string_view key) {
  if (!reader.has(key)) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: {}: missing, expected a boolean", reader.source(), key));
  }
  return reader.get_bool(key, false);
}

char32_t require_character(ConfigReader& reader, std::string_view key) {
  const std::string text = reader.require_string(key);
  if (!reader.ok()) return 0;
  std::size_t at = 0;
  const char32_t character = text.empty() ? 0 : next_code_point(text, at);
  if (text.empty() || at != text.size()) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: {}: expected one character, got \"{}\"", reader.source(), key, text));
  }
  return character;
}

TextPattern require_pattern(ConfigReader& reader, std::string_view key) {
  TextPattern pattern;
  const Json* json = reader.get(key);
  const auto members = json == nullptr ? std::span<const JsonMember>() : json->members();
  const bool one_string = members.size() == 1 && members[0].value.is_string() &&
                          (members[0].key == "String" || members[0].key == "Regex");
  if (!one_string) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: {}: expected {{\"String\": ...}} or {{\"Regex\": ...}}",
                                 reader.source(), key));
    return pattern;
  }
  pattern.text = *members[0].value.as_string();
  pattern.is_regex = members[0].key == "Regex";
  return pattern;
}

}  // namespace lattice
