#pragma once

#include <string>
#include <string_view>

#include "io/json_writer.h"

namespace lattice::cli {

/// Adds the field "device" for a result that another device computed than the model's own
/// (TextReport::other_device).
void add_other_device(JsonWriter& json, std::string_view device);

/// The same for people: " (on the cpu)", or "".
std::string other_device_note(std::string_view device);

}  // namespace lattice::cli
