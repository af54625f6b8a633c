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

KvCache::KvCache(const KvCache& other) : kv_dim_(other.kv_dim_), pages_(other.pages_) {
  if (!pages_.empty() && pages_.back().num_tokens < kKvPageTokens) {
    const Page& last = other.pages_.back();
    pages_.back() = copy_of(last, last.num_tokens, grown(last.num_tokens));
  }
  for (const Page& page : pages_) rows_.push_back(page.memory->data());
}

std::int64_t KvCache::capacity(const Page& page) const {
  return static_cast<std::int64_t>(page.memory->size()) / row_floats();
}

KvCache::Page KvCache::copy_of(const Page& page, std::int64_t num_tokens,
                               std::int64_t capacity) const {
  Page copy{
      std::make_shared<AlignedBuffer<float>>(static_cast<std::size_t>(capacity * row_floats())),
      num_tokens};
  if (num_tokens > 0) {
    std::copy_n(page.memory->data(), num_tokens * row_floats(), copy.memory->data());
  }
  return copy;
}

void KvCache::write(std::int64_t position, ConstMatrix kv) {
  check(kv.cols == row_floats(), "[kv_cache] expected {} columns, got {}", row_floats(), kv.cols);
  check(position <= num_stored(), "[kv_cache] position {} is beyond the {} tokens stored", position,
        num_stored());
  for (std::int64_t i = 0; i < kv.rows;) {
    const auto index = static_cast<std::size_t>((position + i) / kKvPageTokens);
    const std::int64_t first = (position + i) % kKvPageTokens;
    pages_.resize(index + 1);
    rows_.resize(index + 1);
    Page& page = pages_[index];
    const std::int64_t count = std::min(kv.rows - i, kKvPageTokens - first);
    const bool full = page.num_tokens == kKvPageTokens;  // may be shared
    if (page.memory == nullptr || full || capacity(page) < first + count) {
      page = copy_of(page, first, grown(first + count));
    }
    float* out = page.memory->data() + first * row_floats();
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(kv.row(i + r), row_floats(), out + r * row_floats());
    }
    page.num_tokens = first + count;
    rows_[index] = page.memory->data();
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
