#include "row_error.h"

#include "base/check.h"

namespace lattice::cli {

void add_row_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object();
  json.field("code", error_code_name(error.code)).field("message", error.message);
  json.end_object();
}

void raise_row_error(std::size_t row, const Error& error) {
  const ErrorCode code =
      error.code == ErrorCode::kInvalidArgument ? ErrorCode::kMalformed : error.code;
  raise(code, "row {}: {}", row, error.message);
}

}  // namespace lattice::cli
