#pragma once

#include <string>
#include <string_view>

namespace lattice {

/// `text` as a JSON string with its quotes. UTF-8 stays as it is; quotes, backslashes and control
/// characters (NUL included) are escaped.
std::string json_quote(std::string_view text);

}  // namespace lattice
