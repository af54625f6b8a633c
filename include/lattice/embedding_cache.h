#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace lattice {

class Model;

/// What a cache has done so far.
struct EmbeddingCacheStats {
  std::uint64_t hits = 0;     ///< texts whose vector needed no forward pass
  std::uint64_t misses = 0;   ///< texts that had to be computed
  std::uint64_t flushes = 0;  ///< times the full cache was emptied
  std::size_t entries = 0;    ///< vectors held now
};

/// Vectors of texts that were embedded before, so that a repeated text costs no forward pass:
///
///   EmbedOptions options;
///   options.cache = std::make_shared<EmbeddingCache>();
///   model.embed(texts, options);
///
/// A vector is found by its token ids and by everything else that changes it: the model's weights
/// and configuration, its tokenizer, dtype, device and CPU target, pooling, dimensions,
/// normalization and the prompt tokens left out of the pool. All of it is compared in full, a hash
/// only finds the candidates. A cached vector has the bits that computing it again gives. One cache
/// may serve any number of models and options.
///
/// When `capacity` vectors are held, the next one empties the cache first. Thread-safe: any method
/// may be called, and the cache used by any number of Model::embed calls, at the same time.
class EmbeddingCache {
 public:
  static constexpr std::size_t kDefaultCapacity = 10'000;

  /// Holds at most `capacity` vectors. Throws LatticeError(kInvalidArgument) for 0.
  explicit EmbeddingCache(std::size_t capacity = kDefaultCapacity);
  EmbeddingCache(const EmbeddingCache&) = delete;
  EmbeddingCache& operator=(const EmbeddingCache&) = delete;
  ~EmbeddingCache();

  EmbeddingCacheStats stats() const;
  std::size_t capacity() const;

  /// Forgets all vectors; the counters of stats() stay.
  void clear();

  /// Adds the vectors of a file that save() wrote for `model`, as far as there is room for them;
  /// returns how many. The file is checked completely before the first one is used. Throws
  /// LatticeError, leaving the cache as it was: kNotFound; kIo; kMalformed when it is damaged or no
  /// such file; kUnsupported for another version of the format; kInvalidArgument when it was made
  /// with another model (the message says what differs) or holds more than capacity().
  std::size_t load(const std::filesystem::path& file, const Model& model);

  /// Writes the vectors of `model`, for whatever options, replacing `file` in one step: a reader,
  /// a crash or another process that saves at the same time sees or leaves one whole file or the
  /// other; the last one to save wins. Throws LatticeError: kIo; kInvalidArgument when `file` is no
  /// regular file.
  void save(const std::filesystem::path& file, const Model& model) const;

  /// The engine's own view of this cache, for lattice's programs and tests.
  class Store;
  Store& store() const { return *store_; }

 private:
  std::unique_ptr<Store> store_;
};

}  // namespace lattice
