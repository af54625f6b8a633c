#include "engine/embedding_cache_session.h"

#include <algorithm>

#include "engine/embedder.h"

namespace lattice {

EmbeddingKey EmbeddingCacheSession::key(std::size_t row) const {
  return store_.key(identity_, texts_[row].ids, texts_[row].type_ids);
}

std::size_t EmbeddingCacheSession::first_occurrence(std::size_t row, const EmbeddingKey& key) {
  const auto [begin, end] = computed_.equal_range(key.hash);
  for (auto it = begin; it != end; ++it) {
    const TokenizedText& other = texts_[it->second];
    if (other.ids == texts_[row].ids && other.type_ids == texts_[row].type_ids) return it->second;
  }
  computed_.emplace(key.hash, row);
  return row;
}

void EmbeddingCacheSession::fetch(std::span<std::size_t> lengths, Embeddings& out) {
  for (std::size_t row = 0; row < texts_.size(); ++row) {
    if (lengths[row] == 0) continue;
    const EmbeddingKey key = this->key(row);
    if (store_.find(key, out.mutable_row(row))) {
      lengths[row] = 0;
      continue;
    }
    const std::size_t first = first_occurrence(row, key);
    if (first == row) continue;
    repeats_.emplace_back(row, first);
    lengths[row] = 0;
  }
  store_.count_repeats(repeats_.size());
}

void EmbeddingCacheSession::store(std::span<const std::size_t> batch, const Embeddings& out) {
  for (const std::size_t row : batch) store_.insert(key(row), out[row]);
}

void EmbeddingCacheSession::copy_repeats(Embeddings& out) const {
  for (const auto& [row, first] : repeats_) {
    std::copy(out[first].begin(), out[first].end(), out.mutable_row(row).begin());
  }
}

}  // namespace lattice
