#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

/// A model repository of the hub, with the revision that was asked for.
struct RepoRef {
  std::string repo;      ///< "org/name", or "name" for the hub's oldest models
  std::string revision;  ///< a branch, tag or commit; empty when none was given

  /// "repo" or "repo@revision".
  std::string to_string() const;
};

/// Parses "org/name", "name", "org/name@revision". Names follow the hub's own rules: letters,
/// digits, '-', '_' and '.', no "--" or "..", neither '-' nor '.' at an end, at most 96 bytes. They
/// are therefore safe as directory names. Errors: kInvalidArgument.
Result<RepoRef> parse_repo_ref(std::string_view text);

/// Whether `revision` may be sent to a hub and kept as a file name: 1..256 bytes, no control
/// characters, backslashes, spaces or "..".
bool is_valid_revision(std::string_view revision);

/// Whether `text` is a full commit hash: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
bool is_commit_hash(std::string_view text);

/// "org--name" for "org/name". Reversible, because names hold no "--".
std::string repo_directory_name(std::string_view repo);

/// The repository of a directory made by repo_directory_name, or nothing for any other name.
Result<std::string> repo_of_directory_name(std::string_view directory);

/// Whether a path that a server names may be created below a directory of ours: relative, '/' as
/// the only separator, no empty, "." or ".." component, no backslash, colon or control character,
/// at most 255 bytes per component and 1024 in all.
bool is_safe_relative_path(std::string_view path);

/// Percent-encodes all bytes but unreserved ones (RFC 3986: letters, digits, "-._~").
std::string percent_encode(std::string_view text);
/// As percent_encode, but keeps '/'.
std::string percent_encode_path(std::string_view path);
/// The reverse of percent_encode; a malformed sequence is kept as it is.
std::string percent_decode(std::string_view text);

/// Text from a server made safe for a terminal and short: control characters become spaces.
std::string printable_excerpt(std::string_view text, std::size_t max_bytes = 200);

}  // namespace lattice
