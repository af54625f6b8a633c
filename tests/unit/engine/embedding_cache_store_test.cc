// The map behind EmbeddingCache, without a model.
#include "engine/embedding_cache_store.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <map>
#include <thread>

#include "lattice/error.h"

namespace lattice {
namespace {

using Store = EmbeddingCache::Store;
using Ids = std::vector<std::int32_t>;
using Vector = std::vector<float>;

// Every text in one place: only comparing the ids in full can tell them apart.
std::uint64_t same_hash(std::uint64_t, std::span<const std::int32_t>,
                        std::span<const std::int32_t>) {
  return 7;
}

std::uint64_t first_id_hash(std::uint64_t, std::span<const std::int32_t> ids,
                            std::span<const std::int32_t>) {
  return static_cast<std::uint64_t>(ids[0]) << 60;
}

// Hashes that differ in the bits between a slot's place and its tag only.
std::uint64_t middle_bits_hash(std::uint64_t, std::span<const std::int32_t> ids,
                               std::span<const std::int32_t>) {
  return (static_cast<std::uint64_t>(ids[0]) & 0xFFFF) << 16;
}

const EmbeddingIdentity kIdentity = {"model\n", "dimensions 2\n"};

bool put(Store& store, const Ids& ids, const Vector& vector,
         const EmbeddingIdentity& identity = kIdentity, const Ids& type_ids = {}) {
  return store.insert(store.key(store.intern(identity), ids, type_ids), vector);
}

/// The vector kept for `ids`, or nothing.
std::optional<Vector> get(Store& store, const Ids& ids,
                          const EmbeddingIdentity& identity = kIdentity, const Ids& type_ids = {},
                          std::size_t dimensions = 2) {
  Vector out(dimensions, -1.0f);
  if (!store.find(store.key(store.intern(identity), ids, type_ids), out)) return std::nullopt;
  return out;
}

TEST(EmbeddingCacheStore, FindsWhatWasInserted) {
  Store store(10);
  EXPECT_EQ(get(store, {1, 2, 3}), std::nullopt);
  EXPECT_TRUE(put(store, {1, 2, 3}, {0.5f, -0.0f}));
  EXPECT_EQ(get(store, {1, 2, 3}), (Vector{0.5f, -0.0f}));
  EXPECT_EQ(get(store, {1, 2}), std::nullopt);
  EXPECT_EQ(get(store, {1, 2, 3, 0}), std::nullopt);
  const EmbeddingCacheStats stats = store.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 3u);
  EXPECT_EQ(stats.entries, 1u);
}

TEST(EmbeddingCacheStore, CollidingHashesNeverReturnAnotherTextsVector) {
  Store store(1000, same_hash);
  const EmbeddingIdentity other = {"model\n", "dimensions 2\nnormalize false\n"};
  for (std::int32_t i = 0; i < 50; ++i) {
    const auto value = static_cast<float>(i);
    put(store, {i, 1}, {value, 0});
    put(store, {i, 1}, {value, 1}, other);
    put(store, {i, 1}, {value, 2}, kIdentity, {0, 1});
    put(store, {i, 1, 1}, {value, 3});
  }
  EXPECT_EQ(store.stats().entries, 200u);
  for (std::int32_t i = 0; i < 50; ++i) {
    const auto value = static_cast<float>(i);
    EXPECT_EQ(get(store, {i, 1}), (Vector{value, 0}));
    EXPECT_EQ(get(store, {i, 1}, other), (Vector{value, 1}));
    EXPECT_EQ(get(store, {i, 1}, kIdentity, {0, 1}), (Vector{value, 2}));
    EXPECT_EQ(get(store, {i, 1, 1}), (Vector{value, 3}));
    EXPECT_EQ(get(store, {i, 2}), std::nullopt);
    EXPECT_EQ(get(store, {i, 1}, kIdentity, {1, 1}), std::nullopt);
  }
}

TEST(EmbeddingCacheStore, TypeIdsThatAreAllZeroAreNoDifference) {
  Store store(10);
  put(store, {1, 2}, {1, 2}, kIdentity, {0, 0});
  EXPECT_EQ(get(store, {1, 2}), (Vector{1, 2}));
  EXPECT_EQ(get(store, {1, 2}, kIdentity, {0, 1}), std::nullopt);
}

TEST(EmbeddingCacheStore, ValuesThatAreNotFiniteAreNeverStored) {
  Store store(10);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::signaling_NaN(),
        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(put(store, {1}, {bad, 1}));
    EXPECT_FALSE(put(store, {1}, {1, bad}));
    EXPECT_EQ(get(store, {1}), std::nullopt);
  }
  EXPECT_FALSE(put(store, {1}, {}));
  EXPECT_EQ(store.stats().entries, 0u);
}

TEST(EmbeddingCacheStore, AVectorOfAnotherLengthIsAMiss) {
  Store store(10);
  put(store, {1}, {1, 2});
  EXPECT_EQ(get(store, {1}, kIdentity, {}, 3), std::nullopt);
  EXPECT_EQ(get(store, {1}, kIdentity, {}, 1), std::nullopt);
}

TEST(EmbeddingCacheStore, AFullCacheIsEmptiedForTheNextEntry) {
  Store store(3);
  for (std::int32_t i = 0; i < 3; ++i) put(store, {i}, {1, 2});
  EXPECT_FALSE(put(store, {1}, {1, 2})) << "it is there, so nothing needs its place";
  EXPECT_EQ(store.stats().entries, 3u);
  EXPECT_EQ(store.stats().flushes, 0u);
  EXPECT_TRUE(put(store, {3}, {3, 4}));
  EXPECT_EQ(store.stats().entries, 1u);
  EXPECT_EQ(store.stats().flushes, 1u);
  EXPECT_EQ(get(store, {3}), (Vector{3, 4}));
  for (std::int32_t i = 0; i < 3; ++i) EXPECT_EQ(get(store, {i}), std::nullopt);
}

TEST(EmbeddingCacheStore, TenThousandEntriesAreHeldByDefault) {
  const EmbeddingCache cache;
  EXPECT_EQ(cache.capacity(), 10'000u);
  for (std::int32_t i = 0; i < 10'000; ++i) put(cache.store(), {i}, {1, 2});
  EXPECT_EQ(cache.stats().entries, 10'000u);
  EXPECT_EQ(cache.stats().flushes, 0u);
  put(cache.store(), {10'000}, {1, 2});
  EXPECT_EQ(cache.stats().entries, 1u);
}

TEST(EmbeddingCacheStore, CapacityZeroIsRefused) { EXPECT_THROW(EmbeddingCache(0), LatticeError); }

TEST(EmbeddingCacheStore, ClearKeepsTheCounters) {
  EmbeddingCache cache(10);
  put(cache.store(), {1}, {1, 2});
  get(cache.store(), {1});
  cache.clear();
  EXPECT_EQ(get(cache.store(), {1}), std::nullopt);
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().flushes, 0u) << "only a full cache counts";
}

/// What the store should be, said as simply as possible.
class SimpleCache {
 public:
  using Key = std::tuple<std::string, Ids, Ids>;
  explicit SimpleCache(std::size_t capacity) : capacity_(capacity) {}

  void insert(const Key& key, const Vector& vector) {
    if (entries.contains(key)) return;
    if (entries.size() == capacity_) {
      entries.clear();
      ++flushes;
    }
    entries.emplace(key, vector);
  }
  std::optional<Vector> find(const Key& key) {
    const auto found = entries.find(key);
    ++(found == entries.end() ? misses : hits);
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<Key, Vector> entries;
  std::uint64_t hits = 0, misses = 0, flushes = 0;

 private:
  std::size_t capacity_;
};

RC_GTEST_PROP(EmbeddingCacheProperty, BehavesLikeAMapThatIsEmptiedWhenFull, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 9);
  const auto hash = *rc::gen::element<Store::HashFunction>(hash_embedding_key, same_hash,
                                                           first_id_hash, middle_bits_hash);
  Store store(capacity, hash);
  SimpleCache expected(capacity);
  const auto id = rc::gen::inRange<std::int32_t>(0, 3);
  for (int step = *rc::gen::inRange(1, 80); step > 0; --step) {
    const std::string variant = *rc::gen::element<std::string>("a\n", "b\n");
    const EmbeddingIdentity identity = {"model\n", variant};
    const Ids ids = *rc::gen::container<Ids>(*rc::gen::inRange<std::size_t>(1, 4), id);
    const Ids type_ids = *rc::gen::container<Ids>(ids.size(), rc::gen::inRange(0, 2));
    const SimpleCache::Key key = {variant, ids, type_ids};
    const auto action = *rc::gen::inRange(0, 20);
    if (action == 0) {
      store.clear();
      expected.entries.clear();
    } else if (action < 10) {
      const Vector vector = {static_cast<float>(step), static_cast<float>(ids[0])};
      put(store, ids, vector, identity, type_ids);
      expected.insert(key, vector);
    } else {
      RC_ASSERT(get(store, ids, identity, type_ids) == expected.find(key));
    }
    const EmbeddingCacheStats stats = store.stats();
    RC_ASSERT(stats.entries == expected.entries.size());
    RC_ASSERT(stats.flushes == expected.flushes);
    RC_ASSERT(stats.hits == expected.hits);
    RC_ASSERT(stats.misses == expected.misses);
  }
}

RC_GTEST_PROP(EmbeddingCacheProperty, ASnapshotRestoresEverythingOfItsModel, ()) {
  Store store(100);
  std::size_t of_model = 0;
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    const std::string model = *rc::gen::element<std::string>("model\n", "other\n");
    if (put(store, {i, 5}, {static_cast<float>(i), 1}, {model, "dimensions 2\n"}) &&
        model == "model\n") {
      ++of_model;
    }
  }
  const Store::Snapshot snapshot = store.snapshot("model\n");
  RC_ASSERT(snapshot.records.size() == of_model);
  Store restored(100);
  put(restored, {1, 5}, {1, 1});
  const std::size_t there = get(store, {1, 5}) ? 1 : 0;
  RC_ASSERT(restored.restore("model\n", snapshot) == of_model - there);
  for (int i = 2; i < 31; ++i) RC_ASSERT(get(restored, {i, 5}) == get(store, {i, 5}));
}

TEST(EmbeddingCacheStore, RestoringStopsWhenThereIsNoRoom) {
  Store store(10);
  for (std::int32_t i = 0; i < 10; ++i) put(store, {i}, {1, 2});
  Store small(4);
  put(small, {100}, {3, 4});
  EXPECT_EQ(small.restore("model\n", store.snapshot("model\n")), 3u);
  EXPECT_EQ(small.stats().entries, 4u);
  EXPECT_EQ(small.stats().flushes, 0u);
  EXPECT_EQ(get(small, {100}), (Vector{3, 4}));
}

// Threads insert, find, flush, clear and snapshot at once. Each text has one right vector.
TEST(EmbeddingCacheStore, ConcurrentUseNeverReturnsAWrongVectorNorPassesTheCapacity) {
  constexpr std::size_t kCapacity = 40;
  Store store(kCapacity);
  std::atomic<int> wrong = 0;
  std::atomic<std::uint64_t> found = 0;
  const auto work = [&](std::int32_t seed) {
    for (std::int32_t step = 0; step < 4000; ++step) {
      const std::int32_t text = (step * 7 + seed * 13) % 60;
      const Vector right = {static_cast<float>(text), static_cast<float>(text + 1)};
      if (const auto vector = get(store, {text, 9, 9})) {
        ++found;
        if (*vector != right) ++wrong;
      } else {
        put(store, {text, 9, 9}, right);
      }
      if (step % 100 == 0 && store.stats().entries > kCapacity) ++wrong;
      if (step % 500 == 0 && store.snapshot("model\n").records.size() > kCapacity) ++wrong;
      if (step % 1500 == 1499) store.clear();
    }
  };
  std::vector<std::thread> threads;
  for (std::int32_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const EmbeddingCacheStats stats = store.stats();
  EXPECT_EQ(stats.hits, found);
  EXPECT_EQ(stats.hits + stats.misses, 16000u);
  EXPECT_GT(stats.flushes, 0u);
}

}  // namespace
}  // namespace lattice
