#include "io/hub/repo_name.h"

#include <algorithm>
#include <optional>

namespace lattice {
namespace {

constexpr std::size_t kMaxRepoBytes = 96;
constexpr std::size_t kMaxRevisionBytes = 256;
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxPathBytes = 1024;

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// One part of a repository name: the organisation or the model.
bool is_valid_name_part(std::string_view part) {
  if (part.empty() || part.front() == '.' || part.front() == '-') return false;
  if (part.back() == '.' || part.back() == '-') return false;
  if (part.find("--") != part.npos || part.find("..") != part.npos) return false;
  return std::ranges::all_of(
      part, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_valid_repo(std::string_view repo) {
  if (repo.size() > kMaxRepoBytes) return false;
  const std::size_t slash = repo.find('/');
  if (slash == repo.npos) return is_valid_name_part(repo);
  return is_valid_name_part(repo.substr(0, slash)) && is_valid_name_part(repo.substr(slash + 1));
}

std::string encode(std::string_view text, bool keep_slash) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain || (keep_slash && c == '/')) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

std::string RepoRef::to_string() const {
  return revision.empty() ? repo : fmt::format("{}@{}", repo, revision);
}

bool is_valid_revision(std::string_view revision) {
  if (revision.empty() || revision.size() > kMaxRevisionBytes) return false;
  if (revision.find("..") != revision.npos || revision == ".") return false;
  return std::ranges::none_of(revision,
                              [](char c) { return is_control(c) || c == '\\' || c == ' '; });
}

bool is_commit_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<RepoRef> parse_repo_ref(std::string_view text) {
  RepoRef ref;
  const std::size_t at = text.find('@');
  ref.repo = text.substr(0, at);
  if (!is_valid_repo(ref.repo)) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" is not a model name: expected org/name or org/name@revision", text);
  }
  if (at != text.npos) {
    ref.revision = text.substr(at + 1);
    if (!is_valid_revision(ref.revision)) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"{}\": expected a branch, tag or commit after the '@'", text);
    }
  }
  return ref;
}

std::string repo_directory_name(std::string_view repo) {
  const std::size_t slash = repo.find('/');
  if (slash == repo.npos) return std::string(repo);
  return fmt::format("{}--{}", repo.substr(0, slash), repo.substr(slash + 1));
}

Result<std::string> repo_of_directory_name(std::string_view directory) {
  std::string repo(directory);
  if (const std::size_t dashes = repo.find("--"); dashes != repo.npos) repo.replace(dashes, 2, "/");
  if (!is_valid_repo(repo)) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not the directory of a model", directory);
  }
  return repo;
}

bool is_safe_relative_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  if (std::ranges::any_of(path, [](char c) { return is_control(c) || c == '\\' || c == ':'; })) {
    return false;
  }
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    if (component.size() > kMaxComponentBytes) return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

std::string percent_encode(std::string_view text) { return encode(text, false); }
std::string percent_encode_path(std::string_view path) { return encode(path, true); }

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high && low) {
        out.push_back(static_cast<char>(*high * 16 + *low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string printable_excerpt(std::string_view text, std::size_t max_bytes) {
  std::string out(text.substr(0, max_bytes));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  if (text.size() > max_bytes) out += "...";
  return out;
}

}  // namespace lattice
