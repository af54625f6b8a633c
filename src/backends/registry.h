#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/backend.h"

namespace lattice {

/// The backend called `name`. Errors: kUnavailable, naming the reason and the known names.
Result<std::shared_ptr<const Backend>> make_backend(std::string_view name);

/// The names of the backends built into this library, best first.
std::vector<std::string_view> backend_names();

}  // namespace lattice
