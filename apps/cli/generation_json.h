#pragma once

#include "io/json_writer.h"
#include "lattice/generation.h"

namespace lattice::cli {

/// Writes ids, text, finish_reason, logprobs (where asked for) and timings of `generation` as
/// fields of the open object.
void add_generation(JsonWriter& json, const Generation& generation);

/// The ids alone, as a field.
void add_ids(JsonWriter& json, std::string_view key, const std::vector<std::int32_t>& ids);

/// Tokens and speed of a generation for a person, one line.
std::string timings_line(const Generation& generation);

}  // namespace lattice::cli
