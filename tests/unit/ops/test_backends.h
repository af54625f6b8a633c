#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/backend.h"

namespace lattice {

/// The backends that a program of op tests runs on, one of two sets by what it is linked from:
/// those built into the library, or Metal's over the simulator.
std::vector<std::string_view> test_backend_names();

/// A backend by name; "reference" is always there.
Result<std::shared_ptr<const Backend>> make_test_backend(std::string_view name);

}  // namespace lattice
