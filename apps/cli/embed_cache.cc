#include "embed_cache.h"

#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "base/result.h"
#include "io/atomic_file.h"

namespace lattice::cli {

void add_cache_options(CLI::App& verb, EmbedCacheArguments& arguments) {
  CLI::Option* file =
      verb.add_option("--cache", arguments.file, "Keep vectors in FILE; texts in it cost nothing")
          ->type_name("FILE");
  verb.add_option("--cache-entries", arguments.capacity,
                  "Most vectors kept; one more empties the cache first")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 32))
      ->needs(file)
      ->capture_default_str();
}

EmbedCache::EmbedCache(const EmbedCacheArguments& arguments, const Model& model)
    : arguments_(arguments),
      model_(model),
      cache_(std::make_shared<EmbeddingCache>(arguments.capacity)) {
  std::error_code ignored;
  if (std::filesystem::exists(arguments.file, ignored)) cache_->load(arguments.file, model);
  // Makes and removes a temporary file: a place that cannot be written to is known now.
  value_or_throw(AtomicFile::create(arguments.file));
}

void EmbedCache::save() const {
  std::error_code ignored;
  const bool changed = cache_->stats().misses > 0;
  if (changed || !std::filesystem::exists(arguments_.file, ignored)) {
    cache_->save(arguments_.file, model_);
  }
}

void EmbedCache::finish(bool quiet) const {
  save();
  if (quiet) return;
  const EmbeddingCacheStats stats = cache_->stats();
  std::string line = fmt::format("lattice: cache: {} hits, {} misses, {} vectors in {}", stats.hits,
                                 stats.misses, stats.entries, arguments_.file);
  if (stats.flushes > 0) {
    line += fmt::format("; emptied {} times, full at --cache-entries {}", stats.flushes,
                        arguments_.capacity);
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

void EmbedCache::save_after_error() const noexcept {
  try {
    save();
  } catch (const std::exception& error) {
    log_warning("the cache is not saved: {}", error.what());
  }
}

}  // namespace lattice::cli
