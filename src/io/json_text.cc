#include "io/json_text.h"

#include <fmt/format.h>

namespace lattice {

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

std::string append_json_member(std::string_view object, std::string_view key,
                               std::string_view value) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t close = object.rfind('}');
  const std::size_t last = object.find_last_not_of(kBlank, close - 1);
  const std::string_view members = object.substr(0, last + 1);
  return fmt::format("{}{}\n  {}: {}\n{}", members, members.ends_with('{') ? "" : ",",
                     json_quote(key), value, object.substr(close));
}

}  // namespace lattice
