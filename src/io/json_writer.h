#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace lattice {

/// Builds compact JSON text in order. Floats print in the shortest form that reads back to the same
/// bits; a float that is not finite prints as null. Strings must be UTF-8.
///
///   JsonWriter json;
///   json.begin_object().key("index").value(3).key("ids").begin_array().value(1).end_array()
///       .end_object();
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  JsonWriter& value(float number);
  JsonWriter& value(double number);
  JsonWriter& value(std::integral auto number) {
    separate();
    fmt::format_to(std::back_inserter(text_), "{}", number);
    return *this;
  }
  JsonWriter& null();

  /// Shorthand for key(name).value(v).
  template <typename T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  const std::string& text() const { return text_; }
  std::string take();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace lattice
