#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/embedding_cache_store.h"

namespace lattice {

// The file of an embedding cache. Integers and floats are little-endian, texts are a u32 length and
// their bytes.
//
//   "LATTVEC\n"                          magic
//   version:u32                          1
//   model:text                           EmbeddingIdentity::model
//   num_variants:u32, variant:text ...   EmbeddingIdentity::variant
//   count:u64, then `count` records:
//     hash:u64 dim:u32 num_ids:u32 variant:u32 num_type_ids:u32
//     ids:i32*num_ids type_ids:i32*num_type_ids values:f32*dim
//   checksum:16 bytes                    XXH3-128 of everything before it, big-endian

/// What a file holds. Its records point to blocks of their own, not into the file.
struct EmbeddingCacheFile {
  std::string model;
  EmbeddingCache::Store::Snapshot content;
};

/// Reads a whole file from memory. Every size is checked before it is used, the checksum before
/// anything else, and what a correct writer cannot write is refused: a record that is empty, has a
/// foreign hash or variant, a length that its variant contradicts, a value that is not finite, or
/// a key that occurs twice. `expected_model` absent: any. `source` names the file in messages.
/// Errors: see EmbeddingCache::load.
Result<EmbeddingCacheFile> parse_embedding_cache(std::span<const std::byte> bytes,
                                                 const std::string& source,
                                                 std::optional<std::string_view> expected_model);

/// Maps and parses `path`. Errors: see EmbeddingCache::load.
Result<EmbeddingCacheFile> read_embedding_cache(const std::filesystem::path& path,
                                                std::string_view expected_model);

/// Replaces `path` in one step (see AtomicFile). Errors: kIo, kInvalidArgument.
Result<void> write_embedding_cache(const std::filesystem::path& path,
                                   const EmbeddingCacheFile& file);

}  // namespace lattice
