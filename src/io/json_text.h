#pragma once

#include <string>
#include <string_view>

namespace lattice {

/// `text` as a JSON string with its quotes. UTF-8 stays as it is; quotes, backslashes and control
/// characters (NUL included) are escaped.
std::string json_quote(std::string_view text);

/// The text of a JSON object with one member more, behind the others; everything else stays as it
/// is spelled. `object` is valid JSON of an object without the member; `value` is JSON text.
std::string append_json_member(std::string_view object, std::string_view key,
                               std::string_view value);

}  // namespace lattice
