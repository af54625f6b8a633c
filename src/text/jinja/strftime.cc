#include "text/jinja/strftime.h"

#include <algorithm>
#include <string>

namespace lattice::jinja {
namespace {

constexpr std::string_view kDirectives = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyY";
constexpr std::string_view kFlags = "-_0^#";

// One directive, % included.
std::string write_directive(const std::string& directive, const std::tm& time) {
  switch (directive.back()) {
    case 'f':
      return "000000";
    case 'z':
    case 'Z':
      return "";
    case '%':
      return "%";
    default:
      break;
  }
  char buffer[128];
  const std::size_t size = std::strftime(buffer, sizeof buffer, directive.c_str(), &time);
  return {buffer, size};
}

}  // namespace

Text format_time(const Text& format, const std::tm& time, Budget& budget) {
  const std::string_view bytes = format.bytes();
  TextBuilder out(budget);
  UserCursor is_user(format);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t percent = std::min(bytes.find('%', at), bytes.size());
    out.append(format, at, percent);
    if (percent == bytes.size()) break;
    std::size_t end = percent + 1;
    while (end < bytes.size() && kFlags.find(bytes[end]) != std::string_view::npos) ++end;
    const bool known =
        end < bytes.size() && (kDirectives.find(bytes[end]) != std::string_view::npos ||
                               std::string_view("fzZ%").find(bytes[end]) != std::string_view::npos);
    if (!known) {
      out.append(format, percent, end);
      at = end;
      continue;
    }
    const std::string directive(bytes.substr(percent, end + 1 - percent));
    out.append(write_directive(directive, time), is_user(percent));
    at = end + 1;
  }
  return out.take();
}

}  // namespace lattice::jinja
