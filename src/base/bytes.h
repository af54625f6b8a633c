#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lattice {

/// The same bytes seen as characters.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace lattice
