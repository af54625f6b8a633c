#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/embedding_cache_file.h"
#include "engine/embedding_cache_hash.h"
#include "fuzz_support.h"

namespace lattice {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t kChecksumBytes = 16;

/// Every record of an accepted file must be found in a store, with its own values.
void restore_and_find(const EmbeddingCacheFile& file) {
  const auto& records = file.content.records;
  EmbeddingCache::Store store(records.size() + 1);
  fuzz_check(store.restore(file.model, file.content) <= records.size());
  for (const auto& record : records) {
    const CachedEmbedding& entry = record.entry;
    fuzz_touch(entry.words.get(), entry.num_words() * sizeof(std::uint32_t));
    Ids ids(std::size_t{entry.num_ids} + entry.num_type_ids);
    std::memcpy(ids.data(), entry.words.get(), ids.size() * sizeof(std::int32_t));
    const std::span<const std::int32_t> all(ids);
    std::vector<float> values(entry.dimensions);
    EmbeddingKey key =
        store.key(store.intern({file.model, file.content.variants.at(record.variant)}),
                  all.first(entry.num_ids), all.subspan(entry.num_ids));
    if (entry.num_type_ids != 0 && key.type_ids.empty()) continue;  // zeros, which nobody asks for
    fuzz_check(key.hash == record.hash);
    fuzz_check(store.find(key, values));
  }
}

void parse(const std::string& bytes) {
  const auto file = parse_embedding_cache(std::as_bytes(std::span(bytes)), "f", std::nullopt);
  if (!file) {
    fuzz_check(file.error().message.starts_with("[cache] f: "));
    return;
  }
  restore_and_find(*file);
}

/// Follows the format as far as the bytes go and gives each record the hash of its ids.
class Repair {
 public:
  explicit Repair(std::string body) : body_(std::move(body)) {}

  std::string run() {
    std::vector<std::uint64_t> variants;
    at_ = 12;
    const auto model = text();
    auto num_variants = number<std::uint32_t>().value_or(0);
    for (; num_variants > 0; --num_variants) {
      const auto variant = text();
      if (!model || !variant) return std::move(body_);
      variants.push_back(hash_identity(*model, *variant));
    }
    number<std::uint64_t>();
    while (repair_record(variants)) {
    }
    return std::move(body_);
  }

 private:
  template <typename T>
  std::optional<T> number() {
    if (at_ > body_.size() || body_.size() - at_ < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, body_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::optional<std::string> text() {
    const auto size = number<std::uint32_t>();
    if (!size || *size > body_.size() - at_) return std::nullopt;
    at_ += *size;
    return body_.substr(at_ - *size, *size);
  }
  bool repair_record(const std::vector<std::uint64_t>& variants) {
    const std::size_t begin = at_;
    number<std::uint64_t>();
    const auto dimensions = number<std::uint32_t>();
    const auto num_ids = number<std::uint32_t>();
    const auto variant = number<std::uint32_t>();
    const auto num_type_ids = number<std::uint32_t>();
    if (!num_type_ids || *variant >= variants.size()) return false;
    const std::size_t num_words = std::size_t{*num_ids} + *num_type_ids + *dimensions;
    if (num_words > (body_.size() - at_) / sizeof(std::uint32_t)) return false;
    Ids ids(std::size_t{*num_ids} + *num_type_ids);
    if (!ids.empty()) {
      std::memcpy(ids.data(), body_.data() + at_, ids.size() * sizeof(std::int32_t));
    }
    const std::span<const std::int32_t> all(ids);
    const std::uint64_t hash =
        hash_embedding_key(variants[*variant], all.first(*num_ids), all.subspan(*num_ids));
    std::memcpy(body_.data() + begin, &hash, sizeof(hash));
    at_ += num_words * sizeof(std::uint32_t);
    return true;
  }

  std::string body_;
  std::size_t at_ = 0;
};

std::string with_checksum(std::string body) {
  CacheHash hash;
  hash.update(std::as_bytes(std::span(body)));
  for (const std::byte byte : hash.digest()) body += std::to_integer<char>(byte);
  return body;
}

}  // namespace
}  // namespace lattice

// As it is; with a right checksum; and with right hashes too, so that mutations reach every check.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(lattice::fuzz_text(data, size));
  lattice::parse(input);
  if (size < lattice::kChecksumBytes) return 0;
  const std::string body = input.substr(0, size - lattice::kChecksumBytes);
  lattice::parse(lattice::with_checksum(body));
  lattice::parse(lattice::with_checksum(lattice::Repair(body).run()));
  return 0;
}
