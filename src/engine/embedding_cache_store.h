#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/embedding_cache_table.h"
#include "lattice/embedding_cache.h"

namespace lattice {

/// What changes a vector besides its token ids, as text of "key value" lines.
struct EmbeddingIdentity {
  std::string model;    ///< weights, configuration, tokenizer: see ModelFingerprint::model()
  std::string variant;  ///< arithmetic and options: dtype, device, pooling, dimensions, ...

  friend auto operator<=>(const EmbeddingIdentity&, const EmbeddingIdentity&) = default;
};

/// An EmbeddingIdentity that a store knows: equal numbers mean equal texts.
struct InternedIdentity {
  std::uint32_t index = 0;
  std::uint64_t hash = 0;  ///< of the texts, the same in every process
};

/// A vector's whole key. Borrows the ids.
struct EmbeddingKey {
  InternedIdentity identity;
  std::span<const std::int32_t> ids;
  std::span<const std::int32_t> type_ids;  ///< empty when all are 0, else as long as ids
  std::uint64_t hash = 0;
};

/// Where an entry is looked for. Not trusted beyond that: any function is correct.
/// `identity_hash` is InternedIdentity::hash.
std::uint64_t hash_embedding_key(std::uint64_t identity_hash, std::span<const std::int32_t> ids,
                                 std::span<const std::int32_t> type_ids);

/// The hash of an identity's texts.
std::uint64_t hash_identity(std::string_view model, std::string_view variant);

/// The map behind EmbeddingCache: shards by hash, each under its own lock, with one count of all
/// entries. Thread-safe.
class EmbeddingCache::Store {
 public:
  using HashFunction = std::uint64_t (*)(std::uint64_t, std::span<const std::int32_t>,
                                         std::span<const std::int32_t>);

  /// Throws LatticeError(kInvalidArgument) for capacity 0.
  explicit Store(std::size_t capacity, HashFunction hash = hash_embedding_key);

  std::size_t capacity() const { return capacity_; }

  InternedIdentity intern(const EmbeddingIdentity& identity);

  /// The key of a text; type ids that are all 0 are left out.
  EmbeddingKey key(InternedIdentity identity, std::span<const std::int32_t> ids,
                   std::span<const std::int32_t> type_ids) const;

  /// Copies the vector of `key` to `out` and counts a hit; false, and a miss, when there is none of
  /// out.size() values.
  bool find(const EmbeddingKey& key, std::span<float> out);

  /// Keeps a vector; the one already there stays. Refused (false): no values or a value that is not
  /// finite. Empties the cache first when it is full.
  bool insert(const EmbeddingKey& key, std::span<const float> values);

  /// Counts texts that find() missed and that another row of the same call answers: hits after all.
  void count_repeats(std::uint64_t count) { repeats_.fetch_add(count, std::memory_order_release); }

  EmbeddingCacheStats stats() const;
  void clear();

  /// One model's entries for a file, in an order that depends on them alone.
  struct Snapshot {
    std::vector<std::string> variants;
    struct Record {
      std::uint64_t hash = 0;
      std::uint32_t variant = 0;  ///< index into variants
      CachedEmbedding entry;
    };
    std::vector<Record> records;
  };
  Snapshot snapshot(const std::string& model) const;

  /// Adds the records of a snapshot of `model` that are not there, while there is room; returns how
  /// many it added.
  std::size_t restore(const std::string& model, const Snapshot& snapshot);

 private:
  // A line of cache each: neighbours' locks and counters must not share one.
  struct alignas(64) Shard {
    mutable std::shared_mutex mutex;
    EmbeddingTable entries;  // guarded by mutex
    std::atomic<std::uint64_t> hits = 0;
    std::atomic<std::uint64_t> misses = 0;
  };
  static constexpr std::size_t kNumShards = 16;
  using Tables = std::array<EmbeddingTable, kNumShards>;

  Shard& shard(std::uint64_t hash) { return shards_[hash >> 60]; }
  enum class Added { kYes, kThere, kFull };
  Added try_add(std::uint64_t hash, const CachedEmbedding& entry);
  Tables take_all(bool only_if_full);

  const std::size_t capacity_;
  const HashFunction hash_;
  std::array<Shard, kNumShards> shards_;
  std::atomic<std::size_t> count_ = 0;  // entries of all shards; raised under the shard's lock
  std::atomic<std::uint64_t> repeats_ = 0;
  std::atomic<std::uint64_t> flushes_ = 0;

  mutable std::mutex identities_mutex_;
  std::map<EmbeddingIdentity, InternedIdentity> identities_;  // guarded by identities_mutex_
};

/// Orders records by hash, variant, ids and type ids: 0 exactly for records of the same text.
int compare_keys(const EmbeddingCache::Store::Snapshot::Record& a,
                 const EmbeddingCache::Store::Snapshot::Record& b);

}  // namespace lattice
