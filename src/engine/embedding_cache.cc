#include "lattice/embedding_cache.h"

#include "base/result.h"
#include "engine/embedding_cache_file.h"
#include "engine/embedding_cache_store.h"
#include "engine/model_impl.h"

namespace lattice {
namespace {

const std::string& model_name(const Model& model) {
  return model.impl().embedder().fingerprint().model();
}

}  // namespace

EmbeddingCache::EmbeddingCache(std::size_t capacity) : store_(std::make_unique<Store>(capacity)) {}

EmbeddingCache::~EmbeddingCache() = default;

EmbeddingCacheStats EmbeddingCache::stats() const { return store_->stats(); }

std::size_t EmbeddingCache::capacity() const { return store_->capacity(); }

void EmbeddingCache::clear() { store_->clear(); }

std::size_t EmbeddingCache::load(const std::filesystem::path& path, const Model& model) {
  const EmbeddingCacheFile file = value_or_throw(read_embedding_cache(path, model_name(model)));
  if (file.content.records.size() > capacity()) {
    raise(ErrorCode::kInvalidArgument,
          "[cache] {}: it holds {} vectors, the cache's capacity is {}; raise the capacity",
          path.string(), file.content.records.size(), capacity());
  }
  return store_->restore(file.model, file.content);
}

void EmbeddingCache::save(const std::filesystem::path& path, const Model& model) const {
  const std::string& name = model_name(model);
  value_or_throw(write_embedding_cache(path, {name, store_->snapshot(name)}));
}

}  // namespace lattice
