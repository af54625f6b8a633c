#pragma once

#include <filesystem>
#include <string>

namespace lattice {

/// The committed model directory tests/golden/tiny/<name>.
inline std::filesystem::path tiny_directory(const std::string& name) {
  return std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / "tiny" / name;
}

}  // namespace lattice
