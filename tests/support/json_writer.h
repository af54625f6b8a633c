#pragma once

#include <fmt/format.h>

#include <string>

#include "io/json.h"

namespace lattice {

inline void write_json_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

inline void write_json(const Json& json, std::string& out) {
  switch (json.kind()) {
    case Json::Kind::kNull:
      out += "null";
      return;
    case Json::Kind::kBool:
      out += *json.as_bool() ? "true" : "false";
      return;
    case Json::Kind::kInt:
      out += fmt::format("{}", *json.as_int());
      return;
    case Json::Kind::kUint:
      out += fmt::format("{}", *json.as_uint());
      return;
    case Json::Kind::kDouble:
      out += fmt::format("{}", *json.as_double());
      return;
    case Json::Kind::kString:
      write_json_string(*json.as_string(), out);
      return;
    case Json::Kind::kArray:
      out += '[';
      for (const Json& item : json.items()) {
        if (&item != json.items().data()) out += ',';
        write_json(item, out);
      }
      out += ']';
      return;
    case Json::Kind::kObject:
      out += '{';
      for (const JsonMember& member : json.members()) {
        if (&member != json.members().data()) out += ',';
        write_json_string(member.key, out);
        out += ':';
        write_json(member.value, out);
      }
      out += '}';
      return;
  }
}

/// `json` as text: what a document holds of it, parsed again, is equal.
inline std::string write_json(const Json& json) {
  std::string out;
  write_json(json, out);
  return out;
}

}  // namespace lattice
