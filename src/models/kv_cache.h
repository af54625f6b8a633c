#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "ops/keys_values.h"

namespace lattice {

/// The rotated keys and the values of one sequence in one attention layer, in pages. A full page is
/// immutable and shared by copies of the cache; a copy takes the last page's rows along. Movable,
/// copyable; one thread at a time, but copies are independent.
class KvCache {
 public:
  explicit KvCache(const KvShape& shape) : shape_(shape) {}
  KvCache(const KvCache& other);
  KvCache& operator=(const KvCache&) = delete;
  KvCache(KvCache&&) = default;
  KvCache& operator=(KvCache&&) = default;

  /// Stores kv [n, 2 * shape.dim()], keys then values, of the tokens from `position` on, where
  /// `position` is at most the number of tokens stored. What was stored from there on is dropped.
  /// Throws LatticeError(kInternal) for a gap or another width.
  void write(std::int64_t position, ConstMatrix kv);

  /// What the first `num_tokens` tokens stored; valid until the next write.
  KeysValues view(std::int64_t num_tokens) const { return {views_, num_tokens, shape_}; }

  /// Memory of all pages, shared ones included.
  std::size_t num_bytes() const;

 private:
  struct Page {
    std::shared_ptr<AlignedBuffer<float>> memory;
    std::int64_t num_tokens = 0;  // kKvPageTokens: full
    std::int64_t capacity = 0;    // in tokens
  };

  std::int64_t num_stored() const;
  std::int64_t num_planes() const { return 2 * shape_.num_heads; }
  float* row(const Page& page, std::int64_t plane, std::int64_t token) const;
  Page copy_of(const Page& page, std::int64_t num_tokens, std::int64_t capacity) const;

  KvShape shape_;
  std::vector<Page> pages_;
  std::vector<KvPage> views_;  // of the pages
};

}  // namespace lattice
