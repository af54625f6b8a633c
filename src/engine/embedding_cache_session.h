#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/embedding_cache_store.h"
#include "lattice/model.h"

namespace lattice {

struct TokenizedText;

/// What one embed call does with a cache: rows that are known, or repeat an earlier row of the same
/// call, are not computed. Used by one thread; `texts` and the cache must outlive it.
class EmbeddingCacheSession {
 public:
  EmbeddingCacheSession(EmbeddingCache& cache, const EmbeddingIdentity& identity,
                        std::span<const TokenizedText> texts)
      : store_(cache.store()), identity_(store_.intern(identity)), texts_(texts) {}

  /// Fills the rows of `out` that the cache holds. A row that needs no computing, now or later,
  /// gets length 0 in `lengths`; rows that have it already (bad texts) are left alone.
  void fetch(std::span<std::size_t> lengths, Embeddings& out);

  /// Keeps the computed rows of a batch.
  void store(std::span<const std::size_t> batch, const Embeddings& out);

  /// All rows are computed: copies them to their repetitions.
  void copy_repeats(Embeddings& out) const;

 private:
  EmbeddingKey key(std::size_t row) const;
  /// The earlier row with the same key that will be computed, or `row` itself, noted as the first.
  std::size_t first_occurrence(std::size_t row, const EmbeddingKey& key);

  EmbeddingCache::Store& store_;
  InternedIdentity identity_;
  std::span<const TokenizedText> texts_;
  std::unordered_multimap<std::uint64_t, std::size_t> computed_;  // key hash -> row
  std::vector<std::pair<std::size_t, std::size_t>> repeats_;      // row, its first occurrence
};

}  // namespace lattice
