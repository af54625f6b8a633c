#pragma once

#include <cstdint>
#include <span>

#include "ops/matrix.h"

namespace lattice {

/// Tokens of a page of keys and values.
inline constexpr std::int64_t kKvPageTokens = 512;

/// The heads of an attention layer's keys and values.
struct KvShape {
  std::int64_t num_heads = 0;
  std::int64_t head_dim = 0;

  constexpr std::int64_t dim() const { return num_heads * head_dim; }
  friend bool operator==(const KvShape&, const KvShape&) = default;
};

/// The keys and values of kKvPageTokens tokens, or of fewer where a sequence ends:
/// [num_heads][keys, values][capacity][head_dim], so that one head's lie together.
struct KvPage {
  const float* data = nullptr;
  std::int64_t capacity = 0;  ///< in tokens
};

/// The keys and values of one sequence, those of earlier tokens first: as one matrix each, or in
/// pages. A view.
class KeysValues {
 public:
  KeysValues() = default;
  /// k and v [num_keys, num_heads * head_dim]. Throws LatticeError(kInternal) for other shapes.
  KeysValues(ConstMatrix k, ConstMatrix v, std::int64_t head_dim);
  /// Page i holds the tokens from i * kKvPageTokens on; `pages` must outlive the view.
  KeysValues(std::span<const KvPage> pages, std::int64_t num_keys, KvShape shape)
      : pages_(pages), num_keys_(num_keys), shape_(shape) {}

  std::int64_t num_keys() const { return num_keys_; }
  const KvShape& shape() const { return shape_; }

  /// What token i keeps for one head, [head_dim]. The tokens up to the next multiple of
  /// kKvPageTokens follow, key_stride() or value_stride() floats apart.
  const float* key(std::int64_t i, std::int64_t head) const {
    return pages_.empty() ? k_.row(i) + head * shape_.head_dim : in_page(i, 2 * head);
  }
  const float* value(std::int64_t i, std::int64_t head) const {
    return pages_.empty() ? v_.row(i) + head * shape_.head_dim : in_page(i, 2 * head + 1);
  }
  std::int64_t key_stride() const { return pages_.empty() ? k_.stride : shape_.head_dim; }
  std::int64_t value_stride() const { return pages_.empty() ? v_.stride : shape_.head_dim; }

 private:
  const float* in_page(std::int64_t i, std::int64_t plane) const {
    const KvPage& page = pages_[static_cast<std::size_t>(i / kKvPageTokens)];
    return page.data + (plane * page.capacity + i % kKvPageTokens) * shape_.head_dim;
  }

  ConstMatrix k_;
  ConstMatrix v_;
  std::span<const KvPage> pages_;
  std::int64_t num_keys_ = 0;
  KvShape shape_;
};

}  // namespace lattice
