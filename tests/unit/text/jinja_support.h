#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "io/json.h"
#include "text/jinja/template.h"

namespace lattice::jinja {

/// The variables of a JSON object.
inline Value context_of(std::string_view json, bool user_input = false) {
  return Value::from_json(value_or_throw(JsonDocument::parse(json, "context")).root(), user_input);
}

/// What `source` renders to.
inline Rendered render(std::string_view source, std::string_view json = "{}",
                       const RenderOptions& options = {}) {
  return Template::parse(source, "test").render(context_of(json), options);
}

inline std::string text_of(std::string_view source, std::string_view json = "{}") {
  return render(source, json).text;
}

/// The error that parsing and rendering `source` throws; kInternal when there is none.
inline Error error_of(std::string_view source, std::string_view json = "{}",
                      const RenderOptions& options = {}) {
  try {
    render(source, json, options);
  } catch (const LatticeError& error) {
    return error.error();
  }
  ADD_FAILURE() << "no error: " << source;
  return {};
}

}  // namespace lattice::jinja
