#pragma once

#include <cstddef>

namespace lattice {

/// How often operator new was called so far, by any thread of a program that links
/// allocation_counter.cc.
std::size_t num_allocations();

}  // namespace lattice
