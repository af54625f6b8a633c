#pragma once

#include <array>
#include <cstdint>
#include <ostream>

namespace lattice::metal {

struct HeadShape {
  std::int64_t head_dim;
  std::int64_t groups;  ///< query heads per KV head
};

inline void PrintTo(const HeadShape& shape, std::ostream* out) {
  *out << "head_dim " << shape.head_dim << ", " << shape.groups << " groups";
}

/// The configurations that must pass on every GPU backend (docs/design.md).
inline constexpr std::array<HeadShape, 10> kMustShapes = {{{32, 1},
                                                           {64, 1},
                                                           {64, 2},
                                                           {80, 2},
                                                           {128, 2},
                                                           {128, 4},
                                                           {128, 5},
                                                           {256, 4},
                                                           {256, 6},
                                                           {256, 8}}};

}  // namespace lattice::metal
