#include "engine/embedding_cache_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <new>

namespace lattice {

CacheHash::CacheHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void CacheHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

void CacheHash::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

void CacheHash::add(std::string_view text) {
  const std::uint64_t size = text.size();
  update(std::as_bytes(std::span(&size, 1)));
  update(std::as_bytes(std::span(text)));
}

std::array<std::byte, 16> CacheHash::digest() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  return std::bit_cast<std::array<std::byte, 16>>(canonical);
}

std::string CacheHash::hex() const {
  std::string text;
  for (const std::byte byte : digest()) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

}  // namespace lattice
