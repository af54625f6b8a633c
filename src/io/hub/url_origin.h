#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

/// Where a URL's requests go: credentials for one origin are for no other.
struct UrlOrigin {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< lower case; an IPv6 address with its brackets
  std::string port;    ///< digits; the scheme's default when the URL has none

  bool operator==(const UrlOrigin&) const = default;
};

/// The origin of an absolute http or https URL. Errors: kInvalidArgument for any other scheme, a
/// missing host, a bad port, user information ("user@host") or control characters.
Result<UrlOrigin> parse_url_origin(std::string_view url);

}  // namespace lattice
