#pragma once

#include <ctime>

#include "text/jinja/text.h"

namespace lattice::jinja {

/// datetime.strftime of a local time without a zone, in the C locale.
Text format_time(const Text& format, const std::tm& time, Budget& budget);

}  // namespace lattice::jinja
