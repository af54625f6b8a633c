// How long a hit of the embedding cache takes: hashing the ids, finding the entry, comparing all
// ids and copying the vector out. Prints one line per case:
//
//   embedding_cache_bench [IDS] [DIMENSIONS]        (default 512 and 1024)
//
// A full cache of 10,000 texts is asked for 1, 1,000 or all of them in random order: from the
// processor's own cache, from the shared one, and from main memory. Each hit is timed by itself;
// what reading the clock costs is measured and reported, not subtracted.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "engine/embedding_cache_store.h"

namespace lattice {
namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t kHits = 200'000;

std::int64_t nanoseconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

struct Corpus {
  std::vector<Ids> texts;
  InternedIdentity identity;
  std::size_t dimensions = 0;
};

Corpus fill(EmbeddingCache::Store& store, std::size_t num_ids, std::size_t dimensions) {
  Corpus corpus;
  corpus.dimensions = dimensions;
  corpus.identity = store.intern({"model\n", fmt::format("dimensions {}\n", dimensions)});
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> id(0, 30000);
  std::vector<float> vector(dimensions);
  for (std::size_t i = 0; i < store.capacity(); ++i) {
    Ids& ids = corpus.texts.emplace_back(num_ids);
    std::generate(ids.begin(), ids.end(), [&] { return id(random); });
    std::iota(vector.begin(), vector.end(), static_cast<float>(i));
    store.insert(store.key(corpus.identity, ids, {}), vector);
  }
  return corpus;
}

/// The times of kHits hits on one thread, sorted.
std::vector<std::int64_t> time_hits(EmbeddingCache::Store& store, const Corpus& corpus,
                                    std::size_t num_texts, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> choose(0, num_texts - 1);
  // As the tokenizer makes them: ids just written, and type ids that are all 0.
  Ids ids;
  const Ids type_ids(corpus.texts[0].size(), 0);
  std::vector<float> out(corpus.dimensions);
  std::vector<std::int64_t> times;
  times.reserve(kHits);
  for (std::size_t i = 0; i < kHits; ++i) {
    ids = corpus.texts[choose(random)];
    const auto begin = Clock::now();
    const bool hit = store.find(store.key(corpus.identity, ids, type_ids), out);
    times.push_back(nanoseconds(begin, Clock::now()));
    if (!hit) {
      std::fprintf(stderr, "a text of the cache was not found\n");
      std::exit(1);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

void report(std::size_t num_texts, std::size_t num_threads,
            const std::vector<std::int64_t>& times) {
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf("%6zu texts, %zu thread%s  median %4lld ns  p90 %4lld ns  p99 %5lld ns\n", num_texts,
              num_threads, num_threads == 1 ? " " : "s", static_cast<long long>(at(0.5)),
              static_cast<long long>(at(0.9)), static_cast<long long>(at(0.99)));
}

void run(std::size_t num_ids, std::size_t dimensions) {
  EmbeddingCache::Store store(EmbeddingCache::kDefaultCapacity);
  const Corpus corpus = fill(store, num_ids, dimensions);
  std::vector<std::int64_t> clock(10'001);
  for (auto& time : clock) {
    const auto begin = Clock::now();
    time = nanoseconds(begin, Clock::now());
  }
  std::nth_element(clock.begin(), clock.begin() + 5000, clock.end());
  std::printf("%zu vectors of %zu dimensions, %zu ids each; reading the clock takes %lld ns\n",
              store.stats().entries, dimensions, num_ids, static_cast<long long>(clock[5000]));
  for (const std::size_t num_texts : {std::size_t{1}, std::size_t{1000}, corpus.texts.size()}) {
    for (const std::size_t num_threads : {std::size_t{1}, std::size_t{2}}) {
      std::vector<std::vector<std::int64_t>> times(num_threads);
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < num_threads; ++t) {
        threads.emplace_back(
            [&, t] { times[t] = time_hits(store, corpus, num_texts, static_cast<unsigned>(t)); });
      }
      for (std::thread& thread : threads) thread.join();
      std::vector<std::int64_t> all;
      for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
      std::sort(all.begin(), all.end());
      report(num_texts, num_threads, all);
    }
  }
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) {
  const auto argument = [&](int i, unsigned long fallback) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : fallback;
  };
  lattice::run(argument(1, 512), argument(2, 1024));
  return 0;
}
