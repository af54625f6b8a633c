#include "ops/gated_delta_rule.h"

#include <algorithm>
#include <cmath>

namespace lattice {

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

}  // namespace lattice
