#include "models/kv_cache.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace lattice {
namespace {

// The last page grows up to its full size, so that short sequences stay small.
std::int64_t grown(std::int64_t num_tokens) {
  constexpr std::uint64_t kLeast = 32;
  const std::uint64_t wanted = std::bit_ceil(static_cast<std::uint64_t>(num_tokens));
  return std::min(static_cast<std::int64_t>(std::max(wanted, kLeast)), kKvPageTokens);
}

}  // namespace

KvCache::KvCache(const KvCache& other) : shape_(other.shape_), pages_(other.pages_) {
  if (!pages_.empty() && pages_.back().num_tokens < kKvPageTokens) {
    const Page& last = other.pages_.back();
    pages_.back() = copy_of(last, last.num_tokens, grown(last.num_tokens));
  }
  for (const Page& page : pages_) views_.push_back({page.memory->data(), page.capacity});
}

float* KvCache::row(const Page& page, std::int64_t plane, std::int64_t token) const {
  return page.memory->data() + (plane * page.capacity + token) * shape_.head_dim;
}

KvCache::Page KvCache::copy_of(const Page& page, std::int64_t num_tokens,
                               std::int64_t capacity) const {
  const auto size = static_cast<std::size_t>(num_planes() * capacity * shape_.head_dim);
  Page copy{std::make_shared<AlignedBuffer<float>>(size), num_tokens, capacity};
  if (num_tokens == 0) return copy;
  for (std::int64_t plane = 0; plane < num_planes(); ++plane) {
    std::copy_n(row(page, plane, 0), num_tokens * shape_.head_dim, row(copy, plane, 0));
  }
  return copy;
}

void KvCache::write(std::int64_t position, ConstMatrix kv) {
  check(kv.cols == 2 * shape_.dim(), "[kv_cache] expected {} columns, got {}", 2 * shape_.dim(),
        kv.cols);
  check(position <= num_stored(), "[kv_cache] position {} is beyond the {} tokens stored", position,
        num_stored());
  for (std::int64_t i = 0; i < kv.rows;) {
    const auto index = static_cast<std::size_t>((position + i) / kKvPageTokens);
    const std::int64_t first = (position + i) % kKvPageTokens;
    pages_.resize(index + 1);
    views_.resize(index + 1);
    Page& page = pages_[index];
    const std::int64_t count = std::min(kv.rows - i, kKvPageTokens - first);
    const bool full = page.num_tokens == kKvPageTokens;  // may be shared
    if (page.memory == nullptr || full || page.capacity < first + count) {
      page = copy_of(page, first, grown(first + count));
    }
    for (std::int64_t plane = 0; plane < num_planes(); ++plane) {
      const std::int64_t head = plane / 2;
      const std::int64_t column = plane % 2 * shape_.dim() + head * shape_.head_dim;
      float* out = row(page, plane, first);
      for (std::int64_t r = 0; r < count; ++r) {
        std::copy_n(kv.row(i + r) + column, shape_.head_dim, out + r * shape_.head_dim);
      }
    }
    page.num_tokens = first + count;
    views_[index] = {page.memory->data(), page.capacity};
    i += count;
  }
}

std::int64_t KvCache::num_stored() const {
  if (pages_.empty()) return 0;
  return static_cast<std::int64_t>(pages_.size() - 1) * kKvPageTokens + pages_.back().num_tokens;
}

std::size_t KvCache::num_bytes() const {
  std::size_t bytes = 0;
  for (const Page& page : pages_) bytes += page.memory->span().size_bytes();
  return bytes;
}

}  // namespace lattice
