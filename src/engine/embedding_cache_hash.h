#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace lattice {

/// A streaming 128-bit XXH3: for names of trusted files and against accidental damage, not against
/// an adversary. Not thread-safe.
class CacheHash {
 public:
  CacheHash();

  /// Adds bytes as they are.
  void update(std::span<const std::byte> bytes);
  /// Adds a text and its length, so that two texts cannot run together.
  void add(std::string_view text);

  /// The hash of everything so far, most significant byte first.
  std::array<std::byte, 16> digest() const;
  /// The same in hexadecimal.
  std::string hex() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace lattice
