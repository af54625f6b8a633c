#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lattice::jinja {

/// One piece of a template.
struct Token {
  enum class Type : std::uint8_t {
    kData,           ///< text between tags
    kVariableBegin,  ///< {{
    kVariableEnd,    ///< }}
    kBlockBegin,     ///< {%
    kBlockEnd,       ///< %}
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,  ///< with the operator as its text
    kEnd,
  };

  Type type = Type::kEnd;
  std::uint32_t line = 1;
  std::string text;  ///< unescaped for a string, without underscores for a number

  bool is(Type t) const { return type == t; }
  bool is_operator(std::string_view symbol) const {
    return type == Type::kOperator && text == symbol;
  }
  bool is_name(std::string_view name) const { return type == Type::kName && text == name; }
};

/// What a token is, for messages.
std::string describe(const Token& token);

}  // namespace lattice::jinja
