#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lattice::metal::simt {

/// A function that calls itself, directly or through others.
struct RecursiveFunction {
  std::string name;
  std::size_t offset = 0;  ///< of its name in the source
};

/// The recursive functions of a source whose comments are blanked. Functions are told apart by name
/// alone: an overload that calls another one counts as recursive.
std::vector<RecursiveFunction> find_recursion(std::string_view blanked);

}  // namespace lattice::metal::simt
