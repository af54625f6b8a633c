#pragma once

#include <memory>
#include <string>

#include "cli.h"
#include "lattice/embedding_cache.h"

namespace lattice::cli {

struct EmbedCacheArguments {
  std::string file;  ///< "" for none
  std::size_t capacity = EmbeddingCache::kDefaultCapacity;
};

/// Adds --cache and --cache-entries.
void add_cache_options(CLI::App& verb, EmbedCacheArguments& arguments);

/// The cache of one run, read from its file at the start and written back at the end.
class EmbedCache {
 public:
  /// Loads the file if there is one, and makes sure that it can be replaced before anything is
  /// computed. `model` must outlive this object. Throws LatticeError.
  EmbedCache(const EmbedCacheArguments& arguments, const Model& model);

  const std::shared_ptr<EmbeddingCache>& cache() const { return cache_; }

  /// Saves what is new and, unless `quiet`, reports hits and misses on standard error. Throws
  /// LatticeError.
  void finish(bool quiet) const;

  /// Saves what an interrupted run has computed; a failure is only a warning.
  void save_after_error() const noexcept;

 private:
  void save() const;

  const EmbedCacheArguments& arguments_;
  const Model& model_;
  std::shared_ptr<EmbeddingCache> cache_;
};

}  // namespace lattice::cli
