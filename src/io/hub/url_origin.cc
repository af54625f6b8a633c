#include "io/hub/url_origin.h"

#include <algorithm>
#include <cctype>

namespace lattice {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

Result<UrlOrigin> parse_url_origin(std::string_view url) {
  const auto refuse = [](std::string_view why) {
    return fail(ErrorCode::kInvalidArgument, "not a usable http(s) address: {}", why);
  };
  if (std::ranges::any_of(url,
                          [](unsigned char c) { return c <= 0x20 || c == 0x7F || c == '\\'; })) {
    return refuse("it holds blanks, backslashes or control characters");
  }
  const std::size_t colon = url.find("://");
  if (colon == url.npos) return refuse("expected http:// or https://");
  UrlOrigin origin;
  origin.scheme = lower(url.substr(0, colon));
  if (origin.scheme != "http" && origin.scheme != "https") {
    return refuse("expected http:// or https://");
  }
  const std::string_view rest = url.substr(colon + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != authority.npos) return refuse("it holds a user name");
  // The port's colon is the one after an IPv6 address's bracket.
  const std::size_t bracket = authority.rfind(']');
  const std::size_t port = authority.find(':', bracket == authority.npos ? 0 : bracket);
  origin.host = lower(authority.substr(0, port));
  if (origin.host.empty()) return refuse("it has no host");
  if (port != authority.npos) origin.port = authority.substr(port + 1);
  if (!std::ranges::all_of(origin.port, [](char c) { return c >= '0' && c <= '9'; }) ||
      origin.port.size() > 5) {
    return refuse("its port is not a number");
  }
  if (origin.port.empty()) origin.port = origin.scheme == "https" ? "443" : "80";
  return origin;
}

}  // namespace lattice
