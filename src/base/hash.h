#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lattice {

/// Multiplies to 128 bits and folds: the mixing step of hash_bytes().
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// A fast 64-bit hash of bytes, the same on every little-endian machine and in every version that
/// reads the same files. Not collision-safe against an adversary who picks both inputs: use it to
/// find candidates and compare them, or as a fingerprint of trusted files.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
  constexpr std::uint64_t kMul1 = 0x9E3779B97F4A7C15u;
  constexpr std::uint64_t kMul2 = 0xD6E8FEB86659FD93u;
  const char* data = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = seed ^ (bytes.size() * kMul2);
  while (left >= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    state = fold_multiply(state ^ word ^ kMul1, kMul2);
    data += 8;
    left -= 8;
  }
  if (left > 0) {
    std::uint64_t word = 0;
    if (left >= 4) {
      std::uint32_t low, high;  // the two halves overlap when fewer than 8 bytes are left
      std::memcpy(&low, data, 4);
      std::memcpy(&high, data + left - 4, 4);
      word = low | (static_cast<std::uint64_t>(high) << 32);
    } else {
      const auto byte = [&](std::size_t i) {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(data[i]));
      };
      word = byte(0) | (byte(left / 2) << 8) | (byte(left - 1) << 16);
    }
    state = fold_multiply(state ^ word ^ kMul1, kMul2);
  }
  return fold_multiply(state ^ kMul1, kMul1);
}

}  // namespace lattice
