// The file of an embedding cache: round trips, and everything that must be refused.
#include "engine/embedding_cache_file.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <limits>

#include "engine/embedding_cache_hash.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

using Store = EmbeddingCache::Store;
using Ids = std::vector<std::int32_t>;

const std::string kModel = "numerics 1\nweights 01\n";
const std::string kVariant = "dtype f32\ndimensions 3\n";

/// A store of `count` texts, some with type ids, in two variants.
EmbeddingCacheFile small_file(int count, float scale = 1.0f) {
  Store store(1000);
  for (std::int32_t i = 0; i < count; ++i) {
    const auto value = scale * static_cast<float>(i + 1);
    const Ids ids(static_cast<std::size_t>(i % 3 + 1), i);
    const Ids type_ids = i % 2 == 0 ? Ids{} : Ids(ids.size(), 1);
    store.insert(store.key(store.intern({kModel, kVariant}), ids, type_ids),
                 std::vector<float>{value, -value, 0.1f});
  }
  store.insert(store.key(store.intern({kModel, "dimensions 1"}), Ids{7}, {}),
               std::vector<float>{scale});
  return {kModel, store.snapshot(kModel)};
}

std::string file_bytes(const EmbeddingCacheFile& file) {
  const TempDir dir;
  EXPECT_TRUE(write_embedding_cache(dir / "cache", file));
  return read_file(dir / "cache");
}

Result<EmbeddingCacheFile> parse(std::string_view bytes) {
  return parse_embedding_cache(std::as_bytes(std::span(bytes)), "f", kModel);
}

void expect_refused(std::string_view bytes, ErrorCode code, std::string_view reason) {
  const auto file = parse(bytes);
  ASSERT_FALSE(file) << reason;
  EXPECT_EQ(file.error().code, code) << file.error().message;
  EXPECT_TRUE(file.error().message.starts_with("[cache] f: ")) << file.error().message;
  EXPECT_NE(file.error().message.find(reason), std::string::npos) << file.error().message;
  EXPECT_NE(file.error().message.find("delete this file"), std::string::npos)
      << "says what to do: " << file.error().message;
}

/// `body`, which lacks a checksum, with the right one: damage that only the parser can notice.
std::string with_checksum(std::string body) {
  CacheHash hash;
  hash.update(std::as_bytes(std::span(body)));
  for (const std::byte byte : hash.digest()) body += std::to_integer<char>(byte);
  return body;
}

template <typename T>
std::string number(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>((std::uint64_t{value} >> (8 * i)) & 0xff);
  }
  return bytes;
}

std::string text(std::string_view value) {
  return number(static_cast<std::uint32_t>(value.size())) + std::string(value);
}

/// A file written by hand from the format's description, with one record of one id.
struct Handmade {
  std::uint32_t version = 1;
  std::uint32_t num_variants = 1;
  std::string variant = kVariant;
  std::uint64_t count = 1;
  std::uint64_t hash = hash_embedding_key(hash_identity(kModel, kVariant), Ids{42}, {});
  std::uint32_t dim = 3;
  std::uint32_t num_ids = 1;
  std::uint32_t record_variant = 0;
  std::uint32_t num_type_ids = 0;
  float value = 0.5f;
  int copies = 1;
  bool cut_after_variants = false;
  std::string trailing;

  std::string bytes() const {
    std::string body =
        "LATTVEC\n" + number(version) + text(kModel) + number(num_variants) + text(variant);
    if (cut_after_variants) return with_checksum(body);
    body += number(count);
    for (int i = 0; i < copies; ++i) {
      body += number(hash) + number(dim) + number(num_ids) + number(record_variant) +
              number(num_type_ids) + number(std::uint32_t{42});
      for (const float v : {1.0f, value, -2.0f}) body += number(std::bit_cast<std::uint32_t>(v));
    }
    return with_checksum(body + trailing);
  }
};

TEST(EmbeddingCacheFile, TheFormatIsAsDescribed) {
  const auto file = parse(Handmade().bytes());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->content.records.size(), 1u);
  const CachedEmbedding& entry = file->content.records[0].entry;
  EXPECT_EQ(entry.num_ids, 1u);
  EXPECT_EQ(entry.words[0], 42u);
  EXPECT_EQ(std::bit_cast<float>(entry.words[2]), 0.5f);
  EXPECT_EQ(file_bytes(*file), Handmade().bytes());
}

TEST(EmbeddingCacheFile, RoundTripKeepsEveryBit) {
  const EmbeddingCacheFile file = small_file(20);
  const std::string bytes = file_bytes(file);
  const auto read = parse(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->content.records.size(), 21u);
  EXPECT_EQ(file_bytes(*read), bytes);
}

TEST(EmbeddingCacheFile, AnEmptyCacheIsAFileToo) {
  const auto read = parse(file_bytes({kModel, {}}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->content.records.empty());
}

TEST(EmbeddingCacheFile, EverySingleByteCorruptionIsRefused) {
  const std::string bytes = file_bytes(small_file(4));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int flip = 1; flip < 256; flip = flip == 1 ? 0x80 : flip == 0x80 ? 0xff : 256) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ASSERT_FALSE(parse(damaged)) << "byte " << i << " xor " << flip;
    }
  }
}

TEST(EmbeddingCacheFile, EveryTruncationIsRefused) {
  const std::string bytes = file_bytes(small_file(4));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(parse(std::string_view(bytes).substr(0, size))) << size << " bytes";
  }
  expect_refused(bytes.substr(0, bytes.size() - 1), ErrorCode::kMalformed, "checksum");
  expect_refused(bytes.substr(0, 9), ErrorCode::kMalformed, "ends after 9 bytes");
  expect_refused(bytes + "x", ErrorCode::kMalformed, "checksum");
}

// The same cuts with a right checksum: each size must be checked by itself.
TEST(EmbeddingCacheFile, EveryTruncationIsRefusedEvenWithARightChecksum) {
  const std::string bytes = file_bytes(small_file(4));
  for (std::size_t size = 0; size < bytes.size() - 16; ++size) {
    ASSERT_FALSE(parse(with_checksum(bytes.substr(0, size)))) << size << " bytes";
  }
}

TEST(EmbeddingCacheFile, ForeignFilesAreRefused) {
  expect_refused("", ErrorCode::kMalformed, "no lattice cache file");
  expect_refused("{\"text\":\"a\"}\n", ErrorCode::kMalformed, "no lattice cache file");
  Handmade newer;
  newer.version = 2;
  expect_refused(newer.bytes(), ErrorCode::kUnsupported, "format version: expected 1, got 2");
}

TEST(EmbeddingCacheFile, AnotherModelsFileIsRefusedNamingTheDifference) {
  EmbeddingCacheFile file = small_file(4);
  file.model = "numerics 1\nweights 02\n";
  expect_refused(file_bytes(file), ErrorCode::kInvalidArgument, "weights: expected 01, got 02");
  file.model = "numerics 2\nweights 01\n";
  expect_refused(file_bytes(file), ErrorCode::kInvalidArgument, "numerics: expected 1, got 2");
  file.model = "numerics 1\n";
  expect_refused(file_bytes(file), ErrorCode::kInvalidArgument,
                 "weights: expected 01, got nothing");
}

TEST(EmbeddingCacheFile, RecordsThatContradictThemselvesAreRefused) {
  struct Case {
    const char* reason;
    void (*change)(Handmade&);
  };
  const Case cases[] = {
      {"records cannot be in", [](Handmade& f) { f.count = ~std::uint64_t{0}; }},
      {"a record is cut off",
       [](Handmade& f) {
         f.count = 2;
         f.trailing = std::string(23, 'x');
       }},
      {"bytes follow the last record", [](Handmade& f) { f.trailing = "x"; }},
      {"bytes follow the last record", [](Handmade& f) { f.count = 0; }},
      {"the number of records is cut off",
       [](Handmade& f) {
         f.num_variants = 0;
         f.variant = "";
         f.cut_after_variants = true;
       }},
      {"is cut off",
       [](Handmade& f) {
         f.num_variants = 0xffffffff;
         f.cut_after_variants = true;
       }},
      {"does not say its dimensions", [](Handmade& f) { f.variant = "dtype f32\n"; }},
      {"does not say its dimensions", [](Handmade& f) { f.variant = "dimensions 3x\n"; }},
      {"does not say its dimensions", [](Handmade& f) { f.variant = "dimensions 0\n"; }},
      {"does not say its dimensions", [](Handmade& f) { f.variant = "dimensions 99999999999\n"; }},
      {"2 values where its variant has 3", [](Handmade& f) { f.dim = 2; }},
      {"has variant 1", [](Handmade& f) { f.record_variant = 1; }},
      {"no token ids", [](Handmade& f) { f.num_ids = 0; }},
      {"4294967298 words is cut off", [](Handmade& f) { f.num_ids = 0xffffffff; }},
      {"1 ids and 2 type ids", [](Handmade& f) { f.num_type_ids = 2; }},
      {"not that of its ids", [](Handmade& f) { f.hash ^= 1; }},
      {"not finite", [](Handmade& f) { f.value = std::numeric_limits<float>::quiet_NaN(); }},
      {"not finite", [](Handmade& f) { f.value = std::numeric_limits<float>::infinity(); }},
      {"occurs twice",
       [](Handmade& f) {
         f.count = 2;
         f.copies = 2;
       }},
  };
  for (const Case& test : cases) {
    Handmade file;
    test.change(file);
    expect_refused(file.bytes(), ErrorCode::kMalformed, test.reason);
  }
}

TEST(EmbeddingCacheFile, ARefusedFileIsNamedWithItsPath) {
  const TempDir dir;
  const auto path = dir.write("vectors.cache", "nonsense");
  const auto file = read_embedding_cache(path, kModel);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find(path.string()), std::string::npos);
  EXPECT_EQ(read_embedding_cache(dir / "absent", kModel).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(read_embedding_cache(dir.path(), kModel));
}

TEST(EmbeddingCacheFile, SavingReplacesNothingThatIsNoFile) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  EXPECT_EQ(write_embedding_cache(dir / "folder", small_file(1)).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(write_embedding_cache(dir / "absent/cache", small_file(1)).error().code,
            ErrorCode::kIo);
}

// Any bytes changed anywhere, with a right checksum: refused, or a file that is consistent.
RC_GTEST_PROP(EmbeddingCacheFileProperty, DamageThatTheChecksumHidesIsRefusedOrHarmless, ()) {
  static const std::string bytes = file_bytes(small_file(6));
  std::string body = bytes.substr(0, bytes.size() - 16);
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, body.size());
    body[at] = *rc::gen::arbitrary<char>();
  }
  const std::string damaged = with_checksum(body);
  const auto file = parse_embedding_cache(std::as_bytes(std::span(damaged)), "f", std::nullopt);
  if (!file) {
    RC_ASSERT(file.error().message.starts_with("[cache] f: "));
    return;
  }
  RC_ASSERT(file_bytes(*file) == damaged);
}

/// Saves `file` over and over in a process of its own.
pid_t start_saver(const std::filesystem::path& path, const EmbeddingCacheFile& file) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  for (int i = 0; i < 60; ++i) {
    if (!write_embedding_cache(path, file)) ::_exit(1);
  }
  ::_exit(0);
}

TEST(EmbeddingCacheFile, TwoProcessesSavingAtOnceLeaveOneWholeFile) {
  const TempDir dir;
  const EmbeddingCacheFile one = small_file(900, 1.0f), two = small_file(500, 2.0f);
  const std::string one_bytes = file_bytes(one), two_bytes = file_bytes(two);
  ASSERT_TRUE(write_embedding_cache(dir / "cache", one));
  const pid_t savers[] = {start_saver(dir / "cache", one), start_saver(dir / "cache", two)};
  int reads = 0;
  for (int running = 2; running > 0; ++reads) {
    const std::string seen = read_file(dir / "cache");
    ASSERT_TRUE(seen == one_bytes || seen == two_bytes) << "a mixture, after " << reads << " reads";
    int status = 0;
    if (::waitpid(-1, &status, WNOHANG) > 0) {
      EXPECT_EQ(status, 0);
      --running;
    }
  }
  EXPECT_GT(savers[0], 0);
  const auto entries = std::filesystem::directory_iterator(dir.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "a temporary file is left";
}

}  // namespace
}  // namespace lattice
