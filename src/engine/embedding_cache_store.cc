#include "engine/embedding_cache_store.h"

#ifdef LATTICE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>  // the same functions, for the processor it runs on
#else
#include <xxhash.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>

#include "base/hash.h"
#include "base/result.h"

namespace lattice {
namespace {

static_assert(std::endian::native == std::endian::little,
              "hashes are part of the file format and are taken of little-endian ids");

std::uint64_t hash_ids(std::span<const std::int32_t> ids) {
  return XXH3_64bits(ids.data(), ids.size_bytes());
}

bool same_ids(const std::uint32_t* words, std::span<const std::int32_t> ids) {
  return ids.empty() || std::memcmp(words, ids.data(), ids.size_bytes()) == 0;
}

bool matches(const CachedEmbedding& entry, const EmbeddingKey& key) {
  if (entry.identity != key.identity.index || entry.num_ids != key.ids.size() ||
      entry.num_type_ids != key.type_ids.size()) {
    return false;
  }
  const std::uint32_t* const words = entry.words.get();
  return same_ids(words, key.ids) && same_ids(words + entry.num_ids, key.type_ids);
}

bool same_key(const CachedEmbedding& a, const CachedEmbedding& b) {
  return a.identity == b.identity && a.num_ids == b.num_ids && a.num_type_ids == b.num_type_ids &&
         std::equal(a.words.get(), a.words.get() + a.num_key_words(), b.words.get());
}

/// One pass without a branch, unlike std::all_of: a text's type ids mostly are.
bool all_zero(std::span<const std::int32_t> ids) {
  std::int32_t bits = 0;
  for (const std::int32_t id : ids) bits |= id;
  return bits == 0;
}

CachedEmbedding make_entry(const EmbeddingKey& key, std::span<const float> values) {
  CachedEmbedding entry;
  entry.identity = key.identity.index;
  entry.num_ids = static_cast<std::uint32_t>(key.ids.size());
  entry.num_type_ids = static_cast<std::uint32_t>(key.type_ids.size());
  entry.dimensions = static_cast<std::uint32_t>(values.size());
  const auto words = std::make_shared<std::uint32_t[]>(entry.num_words());
  std::uint32_t* const type_ids = words.get() + entry.num_ids;
  std::memcpy(words.get(), key.ids.data(), key.ids.size_bytes());
  if (!key.type_ids.empty()) std::memcpy(type_ids, key.type_ids.data(), key.type_ids.size_bytes());
  std::memcpy(type_ids + entry.num_type_ids, values.data(), values.size_bytes());
  entry.words = words;
  return entry;
}

}  // namespace

std::uint64_t hash_embedding_key(std::uint64_t identity_hash, std::span<const std::int32_t> ids,
                                 std::span<const std::int32_t> type_ids) {
  std::uint64_t hash = fold_multiply(identity_hash ^ hash_ids(ids), 0x9E3779B97F4A7C15u);
  if (!type_ids.empty()) hash = fold_multiply(hash ^ hash_ids(type_ids), 0xD6E8FEB86659FD93u);
  return hash;
}

std::uint64_t hash_identity(std::string_view model, std::string_view variant) {
  return fold_multiply(XXH3_64bits(model.data(), model.size()) ^ 0x9E3779B97F4A7C15u,
                       XXH3_64bits(variant.data(), variant.size()) ^ 0xD6E8FEB86659FD93u);
}

EmbeddingCache::Store::Store(std::size_t capacity, HashFunction hash)
    : capacity_(capacity), hash_(hash) {
  if (capacity == 0) raise(ErrorCode::kInvalidArgument, "cache: expected a capacity of at least 1");
}

InternedIdentity EmbeddingCache::Store::intern(const EmbeddingIdentity& identity) {
  const std::lock_guard lock(identities_mutex_);
  const auto index = static_cast<std::uint32_t>(identities_.size());
  const auto [found, added] = identities_.try_emplace(identity);
  if (added) found->second = {index, hash_identity(identity.model, identity.variant)};
  return found->second;
}

EmbeddingKey EmbeddingCache::Store::key(InternedIdentity identity,
                                        std::span<const std::int32_t> ids,
                                        std::span<const std::int32_t> type_ids) const {
  if (all_zero(type_ids)) type_ids = {};
  return {identity, ids, type_ids, hash_(identity.hash, ids, type_ids)};
}

bool EmbeddingCache::Store::find(const EmbeddingKey& key, std::span<float> out) {
  Shard& shard = this->shard(key.hash);
  const std::shared_lock lock(shard.mutex);
  const std::size_t num_words = key.ids.size() + key.type_ids.size() + out.size();
  const CachedEmbedding* const entry = shard.entries.find(
      key.hash, num_words, [&](const auto& candidate) { return matches(candidate, key); });
  if (entry == nullptr || entry->dimensions != out.size()) {
    shard.misses.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::memcpy(out.data(), entry->words.get() + entry->num_key_words(), out.size_bytes());
  shard.hits.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool EmbeddingCache::Store::insert(const EmbeddingKey& key, std::span<const float> values) {
  const auto finite = [](float value) { return std::isfinite(value); };
  if (values.empty() || !std::all_of(values.begin(), values.end(), finite)) return false;
  const CachedEmbedding entry = make_entry(key, values);
  for (;;) {
    const Added added = try_add(key.hash, entry);
    if (added != Added::kFull) return added == Added::kYes;
    take_all(/*only_if_full=*/true);
  }
}

EmbeddingCache::Store::Added EmbeddingCache::Store::try_add(std::uint64_t hash,
                                                            const CachedEmbedding& entry) {
  Shard& shard = this->shard(hash);
  const std::unique_lock lock(shard.mutex);
  const auto same = [&](const CachedEmbedding& other) { return same_key(other, entry); };
  if (shard.entries.find(hash, entry.num_words(), same) != nullptr) return Added::kThere;
  // Reserves a place before it is taken: threads in other shards cannot pass the capacity together.
  if (count_.fetch_add(1) >= capacity_) {
    count_.fetch_sub(1);
    return Added::kFull;
  }
  shard.entries.add(hash, entry);
  return Added::kYes;
}

/// Empties all shards at one moment. The entries are returned, to be destroyed without a lock.
EmbeddingCache::Store::Tables EmbeddingCache::Store::take_all(bool only_if_full) {
  Tables taken;
  std::array<std::unique_lock<std::shared_mutex>, kNumShards> locks;
  for (std::size_t i = 0; i < kNumShards; ++i) locks[i] = std::unique_lock(shards_[i].mutex);
  // Places are reserved under a lock, so with all of them held this is the number of entries.
  if (only_if_full && count_.load() < capacity_) return taken;
  for (std::size_t i = 0; i < kNumShards; ++i) std::swap(taken[i], shards_[i].entries);
  count_.store(0);
  if (only_if_full) flushes_.fetch_add(1, std::memory_order_relaxed);
  return taken;
}

EmbeddingCacheStats EmbeddingCache::Store::stats() const {
  EmbeddingCacheStats stats;
  // Read first: the misses read below then include those that these repeats were counted as.
  const std::uint64_t repeats = repeats_.load(std::memory_order_acquire);
  stats.flushes = flushes_.load(std::memory_order_relaxed);
  for (const Shard& shard : shards_) {
    stats.hits += shard.hits.load(std::memory_order_relaxed);
    stats.misses += shard.misses.load(std::memory_order_relaxed);
    const std::shared_lock lock(shard.mutex);
    stats.entries += shard.entries.size();
  }
  stats.hits += repeats;
  stats.misses -= repeats;
  return stats;
}

void EmbeddingCache::Store::clear() { take_all(/*only_if_full=*/false); }

EmbeddingCache::Store::Snapshot EmbeddingCache::Store::snapshot(const std::string& model) const {
  Snapshot snapshot;
  std::map<std::uint32_t, std::uint32_t> variant_of;  // identity -> its place in the snapshot
  {
    const std::lock_guard lock(identities_mutex_);
    for (const auto& [identity, interned] : identities_) {  // sorted by text
      if (identity.model != model) continue;
      variant_of[interned.index] = static_cast<std::uint32_t>(snapshot.variants.size());
      snapshot.variants.push_back(identity.variant);
    }
  }
  for (const Shard& shard : shards_) {
    const std::shared_lock lock(shard.mutex);
    for (const auto& [hash, entry] : shard.entries.records()) {
      const auto variant = variant_of.find(entry.identity);
      if (variant == variant_of.end()) continue;
      snapshot.records.push_back({hash, variant->second, entry});
    }
  }
  std::sort(snapshot.records.begin(), snapshot.records.end(),
            [](const auto& a, const auto& b) { return compare_keys(a, b) < 0; });
  return snapshot;
}

std::size_t EmbeddingCache::Store::restore(const std::string& model, const Snapshot& snapshot) {
  std::vector<InternedIdentity> identities;
  for (const std::string& variant : snapshot.variants)
    identities.push_back(intern({model, variant}));
  std::size_t added = 0;
  for (const Snapshot::Record& record : snapshot.records) {
    CachedEmbedding entry = record.entry;
    entry.identity = identities[record.variant].index;
    if (try_add(record.hash, entry) == Added::kYes) ++added;
  }
  return added;
}

int compare_keys(const EmbeddingCache::Store::Snapshot::Record& a,
                 const EmbeddingCache::Store::Snapshot::Record& b) {
  const auto head = [](const EmbeddingCache::Store::Snapshot::Record& record) {
    return std::tuple(record.hash, record.variant, record.entry.num_ids, record.entry.num_type_ids);
  };
  if (head(a) != head(b)) return head(a) < head(b) ? -1 : 1;
  return std::memcmp(a.entry.words.get(), b.entry.words.get(),
                     a.entry.num_key_words() * sizeof(std::uint32_t));
}

}  // namespace lattice
