#include "device_report.h"

#include <fmt/format.h>

namespace lattice::cli {

void add_other_device(JsonWriter& json, std::string_view device) {
  if (!device.empty()) json.field("device", device);
}

std::string other_device_note(std::string_view device) {
  return device.empty() ? "" : fmt::format(" (on the {})", device);
}

}  // namespace lattice::cli
