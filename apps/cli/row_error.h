#pragma once

#include "io/json_writer.h"
#include "lattice/error.h"

namespace lattice::cli {

/// Adds "error": {"code": ..., "message": ...} to a row, as every verb spells it.
void add_row_error(JsonWriter& json, const Error& error);

/// Throws a row's error with the row's number. What is wrong is in the data, not in the arguments.
[[noreturn]] void raise_row_error(std::size_t row, const Error& error);

}  // namespace lattice::cli
