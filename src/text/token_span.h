#pragma once

#include <cstddef>

namespace lattice {

/// A half-open byte range [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const ByteRange&) const = default;
  std::size_t size() const { return end - begin; }
};

}  // namespace lattice
