#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lattice {

/// One fuzz target: the directory of its corpus and its entry point.
struct FuzzTarget {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

/// Every target declared with lattice_fuzzer() in fuzz/CMakeLists.txt.
std::span<const FuzzTarget> fuzz_targets();

}  // namespace lattice
