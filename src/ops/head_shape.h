#pragma once

#include <cstdint>

namespace lattice {

/// The attention heads of a model. A device whose kernels are made for one shape may refuse others.
struct HeadShape {
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
};

}  // namespace lattice
