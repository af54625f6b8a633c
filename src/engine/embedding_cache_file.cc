#include "engine/embedding_cache_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "engine/embedding_cache_hash.h"
#include "engine/embedding_cache_identity.h"
#include "io/atomic_file.h"

namespace lattice {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's numbers are copied as bytes");

using Snapshot = EmbeddingCache::Store::Snapshot;

constexpr std::string_view kMagic = "LATTVEC\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 16;
constexpr std::size_t kRecordHeaderBytes = 24;
constexpr std::string_view kAdvice = "delete this file, or name another one, to start a new cache";

/// Takes numbers and texts off the front of the file; nothing once they run out.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes), size_(bytes.size()) {}

  std::size_t left() const { return bytes_.size(); }
  std::size_t offset() const { return size_ - bytes_.size(); }

  std::optional<std::span<const std::byte>> take(std::uint64_t size) {
    if (size > bytes_.size()) return std::nullopt;
    const auto taken = bytes_.first(static_cast<std::size_t>(size));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  template <typename T>
  std::optional<T> number() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }
  std::optional<std::string> text() {
    const auto size = number<std::uint32_t>();
    const auto bytes = size ? take(*size) : std::nullopt;
    return bytes ? std::optional(std::string(as_text(*bytes))) : std::nullopt;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_;
};

/// The value of a variant's "dimensions" line.
std::optional<std::uint32_t> variant_dimensions(std::string_view variant) {
  constexpr std::string_view kKey = "dimensions ";
  const std::size_t line = variant.starts_with(kKey) ? 0 : variant.find("\ndimensions ") + 1;
  if (line == 0 && !variant.starts_with(kKey)) return std::nullopt;
  const char* const begin = variant.data() + line + kKey.size();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(begin, variant.data() + variant.size(), value);
  const bool whole = end == variant.data() + variant.size() || *end == '\n';
  return error == std::errc() && whole && value > 0 ? std::optional(value) : std::nullopt;
}

class Parser {
 public:
  Parser(std::span<const std::byte> body, const std::string& source)
      : reader_(body), source_(source) {}

  Result<EmbeddingCacheFile> parse(std::optional<std::string_view> expected_model) {
    reader_.take(kMagic.size() + sizeof(kVersion));  // checked before
    EmbeddingCacheFile file;
    auto model = reader_.text();
    if (!model) return damaged("the model's name is cut off");
    file.model = std::move(*model);
    if (expected_model && file.model != *expected_model) {
      return fail(ErrorCode::kInvalidArgument,
                  "[cache] {}: it was made with another model or version: {}; {}", source_,
                  describe_difference(*expected_model, file.model), kAdvice);
    }
    if (auto status = parse_variants(file.content, file.model); !status) {
      return forward_error(status);
    }
    if (auto status = parse_records(file.content); !status) return forward_error(status);
    if (reader_.left() > 0) return damaged("{} bytes follow the last record", reader_.left());
    if (has_duplicates(file.content)) return damaged("the same text occurs twice");
    return file;
  }

 private:
  struct Variant {
    std::uint64_t hash = 0;
    std::uint32_t dimensions = 0;
  };

  template <typename... Args>
  tl::unexpected<Error> damaged(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(ErrorCode::kMalformed, "[cache] {}: byte {}: {}; {}", source_, reader_.offset(),
                fmt::format(format, std::forward<Args>(args)...), kAdvice);
  }

  Result<void> parse_variants(Snapshot& content, const std::string& model) {
    const auto count = reader_.number<std::uint32_t>();
    if (!count) return damaged("the number of variants is cut off");
    for (std::uint32_t i = 0; i < *count; ++i) {
      auto text = reader_.text();
      if (!text) return damaged("variant {} of {} is cut off", i, *count);
      const auto dimensions = variant_dimensions(*text);
      if (!dimensions) return damaged("variant {} does not say its dimensions", i);
      variants_.push_back({hash_identity(model, *text), *dimensions});
      content.variants.push_back(std::move(*text));
    }
    return {};
  }

  Result<void> parse_records(Snapshot& content) {
    const auto count = reader_.number<std::uint64_t>();
    if (!count) return damaged("the number of records is cut off");
    if (*count > reader_.left() / kRecordHeaderBytes) {
      return damaged("{} records cannot be in the {} bytes left", *count, reader_.left());
    }
    content.records.reserve(static_cast<std::size_t>(*count));
    for (std::uint64_t i = 0; i < *count; ++i) {
      auto record = parse_record();
      if (!record) return forward_error(record);
      content.records.push_back(std::move(*record));
    }
    return {};
  }

  Result<Snapshot::Record> parse_record() {
    Snapshot::Record record;
    CachedEmbedding& entry = record.entry;
    const auto hash = reader_.number<std::uint64_t>();
    const auto dimensions = reader_.number<std::uint32_t>();
    const auto num_ids = reader_.number<std::uint32_t>();
    const auto variant = reader_.number<std::uint32_t>();
    const auto num_type_ids = reader_.number<std::uint32_t>();
    if (!num_type_ids) return damaged("a record is cut off");
    if (*variant >= variants_.size()) return damaged("a record has variant {}", *variant);
    if (*dimensions != variants_[*variant].dimensions) {
      return damaged("a record has {} values where its variant has {}", *dimensions,
                     variants_[*variant].dimensions);
    }
    if (*num_ids == 0) return damaged("a record has no token ids");
    if (*num_type_ids != 0 && *num_type_ids != *num_ids) {
      return damaged("a record has {} ids and {} type ids", *num_ids, *num_type_ids);
    }
    record.hash = *hash;
    record.variant = *variant;
    entry = {0, *num_ids, *num_type_ids, *dimensions, nullptr};
    if (auto status = read_words(entry); !status) return forward_error(status);
    if (auto status = check_record(record); !status) return forward_error(status);
    return record;
  }

  Result<void> read_words(CachedEmbedding& entry) {
    // Three numbers below 2^32: neither sum nor product can wrap 64 bits.
    const auto bytes = reader_.take(std::uint64_t{entry.num_words()} * sizeof(std::uint32_t));
    if (!bytes) return damaged("a record of {} words is cut off", entry.num_words());
    const auto words = std::make_shared<std::uint32_t[]>(entry.num_words());
    std::memcpy(words.get(), bytes->data(), bytes->size());
    entry.words = words;
    return {};
  }

  Result<void> check_record(const Snapshot::Record& record) const {
    const CachedEmbedding& entry = record.entry;
    const std::uint32_t* const words = entry.words.get();
    std::vector<std::int32_t> ids(std::size_t{entry.num_ids} + entry.num_type_ids);
    std::memcpy(ids.data(), words, ids.size() * sizeof(std::int32_t));
    const auto all = std::span<const std::int32_t>(ids);
    if (record.hash != hash_embedding_key(variants_[record.variant].hash, all.first(entry.num_ids),
                                          all.subspan(entry.num_ids))) {
      return damaged("a record's hash is not that of its ids");
    }
    const bool finite =
        std::all_of(words + ids.size(), words + entry.num_words(),
                    [](std::uint32_t word) { return std::isfinite(std::bit_cast<float>(word)); });
    if (!finite) return damaged("a record has a value that is not finite");
    return {};
  }

  static bool has_duplicates(const Snapshot& content) {
    std::vector<const Snapshot::Record*> sorted;
    sorted.reserve(content.records.size());
    for (const Snapshot::Record& record : content.records) sorted.push_back(&record);
    const auto less = [](const Snapshot::Record* a, const Snapshot::Record* b) {
      return compare_keys(*a, *b) < 0;
    };
    std::sort(sorted.begin(), sorted.end(), less);
    return std::adjacent_find(sorted.begin(), sorted.end(),
                              [](const Snapshot::Record* a, const Snapshot::Record* b) {
                                return compare_keys(*a, *b) == 0;
                              }) != sorted.end();
  }

  ByteReader reader_;
  const std::string& source_;
  std::vector<Variant> variants_;
};

/// Numbers and texts to an AtomicFile, in large pieces, hashed on the way.
class HashingWriter {
 public:
  explicit HashingWriter(AtomicFile& file) : file_(file) {}

  void bytes(std::span<const std::byte> data) {
    buffer_.insert(buffer_.end(), data.begin(), data.end());
    if (buffer_.size() >= kBufferBytes) flush();
  }
  template <typename T>
  void number(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes(std::as_bytes(std::span(value)));
  }
  /// Writes the checksum; the first failure of all writes.
  Result<void> finish() {
    flush();
    if (status_) status_ = file_.write(hash_.digest());
    return status_;
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  void flush() {
    hash_.update(buffer_);
    if (status_) status_ = file_.write(buffer_);
    buffer_.clear();
  }

  AtomicFile& file_;
  CacheHash hash_;
  std::vector<std::byte> buffer_;
  Result<void> status_;
};

void write_content(HashingWriter& writer, const EmbeddingCacheFile& file) {
  writer.bytes(std::as_bytes(std::span(kMagic)));
  writer.number(kVersion);
  writer.text(file.model);
  writer.number(static_cast<std::uint32_t>(file.content.variants.size()));
  for (const std::string& variant : file.content.variants) writer.text(variant);
  writer.number(std::uint64_t{file.content.records.size()});
  for (const auto& [hash, variant, entry] : file.content.records) {
    writer.number(hash);
    writer.number(entry.dimensions);
    writer.number(entry.num_ids);
    writer.number(variant);
    writer.number(entry.num_type_ids);
    writer.bytes(std::as_bytes(std::span(entry.words.get(), entry.num_words())));
  }
}

}  // namespace

Result<EmbeddingCacheFile> parse_embedding_cache(std::span<const std::byte> bytes,
                                                 const std::string& source,
                                                 std::optional<std::string_view> expected_model) {
  constexpr std::size_t kHeadBytes = kMagic.size() + sizeof(kVersion);
  if (!as_text(bytes).starts_with(kMagic)) {
    return fail(ErrorCode::kMalformed, "[cache] {}: byte 0: this is no lattice cache file; {}",
                source, kAdvice);
  }
  if (bytes.size() < kHeadBytes + kChecksumBytes) {
    return fail(ErrorCode::kMalformed, "[cache] {}: the file ends after {} bytes; {}", source,
                bytes.size(), kAdvice);
  }
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof(version));
  if (version != kVersion) {
    return fail(ErrorCode::kUnsupported, "[cache] {}: format version: expected {}, got {}; {}",
                source, kVersion, version, kAdvice);
  }
  const auto body = bytes.first(bytes.size() - kChecksumBytes);
  CacheHash hash;
  hash.update(body);
  const auto digest = hash.digest();
  if (!std::equal(digest.begin(), digest.end(), bytes.last(kChecksumBytes).begin())) {
    return fail(ErrorCode::kMalformed,
                "[cache] {}: the checksum does not fit: the file is damaged or cut off; {}", source,
                kAdvice);
  }
  return Parser(body, source).parse(expected_model);
}

Result<EmbeddingCacheFile> read_embedding_cache(const std::filesystem::path& path,
                                                std::string_view expected_model) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  return parse_embedding_cache(file->bytes(), path.string(), expected_model);
}

Result<void> write_embedding_cache(const std::filesystem::path& path,
                                   const EmbeddingCacheFile& content) {
  auto file = AtomicFile::create(path);
  if (!file) return forward_error(file);
  HashingWriter writer(*file);
  write_content(writer, content);
  if (auto status = writer.finish(); !status) return status;
  return file->commit();
}

}  // namespace lattice
