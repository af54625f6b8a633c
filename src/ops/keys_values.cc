#include "ops/keys_values.h"

#include "base/check.h"

namespace lattice {

KeysValues::KeysValues(ConstMatrix k, ConstMatrix v, std::int64_t head_dim)
    : k_(k), v_(v), num_keys_(k.rows), shape_{k.cols / head_dim, head_dim} {
  check(k.rows == v.rows && k.cols == v.cols && k.cols == shape_.dim(),
        "[attention] keys are [{}, {}], values [{}, {}], heads have {}", k.rows, k.cols, v.rows,
        v.cols, head_dim);
}

}  // namespace lattice
