#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lattice::normalizers {

/// SentencePiece's precompiled character map: a double-array trie from byte sequences to
/// replacement texts. Its parts are checked on loading, its links at every step, so that a damaged
/// one gives wrong replacements at worst.
class Charsmap {
 public:
  /// `blob`: trie size in bytes (32 bits), the trie's units (32 bits each), then the replacements,
  /// UTF-8, each ended by NUL; all little-endian. Errors: kMalformed.
  static Result<Charsmap> parse(std::string_view blob);

  /// The replacement of the shortest key that `text` starts with, if any.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

/// Decodes RFC 4648 base64 with padding; nullopt when it is not that.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace lattice::normalizers
