// Text that comes token by token is the text of all tokens: random ids of every kind of tokenizer
// against decoders of whole lists.
#include "text/stream_decoder.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "support/json_writer.h"
#include "support/sanitizer.h"
#include "support/small_tokenizers.h"
#include "whole_decoder.h"

namespace lattice {
namespace {

using Ids = std::vector<std::int32_t>;

/// A tokenizer.json with its parsed form.
struct Subject {
  std::string name;
  JsonDocument document;
  Tokenizer tokenizer;

  const Json& decoder() const {
    static const Json kNull;
    const Json* json = document.root().find("decoder");
    return json == nullptr ? kNull : *json;
  }
};

Subject make_subject(const std::string& name, const std::string& json) {
  return {name, value_or_throw(JsonDocument::parse(json, name)), Tokenizer::from_json(json, name)};
}

// All tokenizers of the goldens and the small ones, which have tokens for all 256 bytes.
const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list = [] {
    std::vector<Subject> all;
    for (const SmallTokenizer& small : small_tokenizers()) {
      all.push_back(make_subject(small.name, small.json));
    }
    const auto folder = std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / "tokenizer";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto golden = value_or_throw(JsonDocument::parse_file(entry.path()));
      all.push_back(
          make_subject(entry.path().stem(), write_json(*golden.root().find("tokenizer"))));
    }
    return all;
  }();
  return list;
}

bool is_special(const Subject& subject, const std::string& token) {
  const Json* added = subject.document.root().find("added_tokens");
  if (added == nullptr) return false;
  for (const Json& entry : added->items()) {
    if (*entry.find("content")->as_string() == token) return *entry.find("special")->as_bool();
  }
  return false;
}

std::string decode_whole(const Subject& subject, std::span<const std::int32_t> ids,
                         bool skip_special) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const std::string token = subject.tokenizer.id_to_token(id).value();
    if (!skip_special || !is_special(subject, token)) tokens.push_back(token);
  }
  return WholeDecoder(subject.decoder()).decode(tokens);
}

// Ids that exist; some sequences keep to a few neighbours, so that bytes and pieces meet.
Ids random_ids(const Subject& subject, std::mt19937_64& random) {
  const std::uint64_t bound = subject.tokenizer.id_bound();
  const std::uint64_t span = random() % 2 == 0 ? bound : 1 + random() % 40;
  const std::uint64_t start = random() % bound;
  Ids ids(random() % 20);
  for (std::int32_t& id : ids) {
    do {
      id = static_cast<std::int32_t>((start + random() % span) % bound);
    } while (!subject.tokenizer.id_to_token(id));
  }
  return ids;
}

void expect_stream(const Subject& subject, const Ids& ids, bool skip_special) {
  StreamDecoder decoder(subject.tokenizer, skip_special);
  const std::string expected = decode_whole(subject, ids, skip_special);
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string piece = decoder.push(id);
    ASSERT_FALSE(find_invalid_utf8(piece));
    text += piece;
    ASSERT_TRUE(expected.starts_with(text)) << text << " instead of " << expected;
  }
  text += decoder.finish();
  ASSERT_EQ(text, expected);
  ASSERT_EQ(subject.tokenizer.decode(ids, skip_special), expected);
}

TEST(StreamDecoder, RandomIdsOfEveryTokenizer) {
  std::mt19937_64 random(1);
  std::size_t num_sequences = 0;
  for (const Subject& subject : subjects()) {
    for (int i = 0; i < 1000; ++i) {
      const Ids ids = random_ids(subject, random);
      SCOPED_TRACE(fmt::format("{}: {}", subject.name, fmt::join(ids, ",")));
      expect_stream(subject, ids, random() % 2 == 0);
      if (HasFatalFailure()) return;
      ++num_sequences;
    }
  }
  EXPECT_GE(num_sequences, 22'000u);
}

// Decoders and orders that the tokenizers above do not have, on tokens that mean something to them.
TEST(StreamDecoder, RandomTokensOfUnusualDecoders) {
  const std::string strip = R"({"type":"Strip","content":"é","start":1,"stop":2})";
  const std::string fuse = R"({"type":"Fuse"})";
  const std::string bytes = R"({"type":"ByteFallback"})";
  const std::string space = R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})";
  const std::string level = R"({"type":"ByteLevel"})";
  const std::string bpe = R"({"type":"BPEDecoder","suffix":"</w>"})";
  const std::string ctc =
      R"({"type":"CTC","pad_token":"a","word_delimiter_token":"b","cleanup":true})";
  const std::vector<std::string> lists = {
      strip,
      bytes + "," + fuse + "," + strip,
      fuse + "," + space,
      level + "," + strip,
      ctc + "," + space,
      bpe,
      bpe + "," + space,
      bytes + "," + bpe + "," + strip,
      strip + "," + fuse + "," + strip,
      level + "," + R"({"type":"WordPiece","prefix":"b","cleanup":true})"};
  const std::vector<std::string> tokens = {"é",     "éé", "a",  "b",      "aé",     "▁a",
                                           "▁",     "Ã",  "©",  "<0xC3>", "<0xA9>", "<0xE2>",
                                           "a</w>", " .", "日", "n't"};
  std::mt19937_64 random(2);
  for (const std::string& list : lists) {
    const Subject subject =
        make_subject(list, R"({"decoder":{"type":"Sequence","decoders":[)" + list +
                               R"(]},"model":{"type":"WordLevel","unk_token":"a","vocab":)" +
                               vocab_json(tokens) + "}}");
    for (int i = 0; i < 1000; ++i) {
      const Ids ids = random_ids(subject, random);
      SCOPED_TRACE(fmt::format("{}: {}", list, fmt::join(ids, ",")));
      expect_stream(subject, ids, true);
      if (HasFatalFailure()) return;
    }
  }
}

// What is held back is no more than what a further token could change.
TEST(StreamDecoder, TextComesAtOnce) {
  std::mt19937_64 random(3);
  for (const Subject& subject : subjects()) {
    const std::string decoder = write_json(subject.decoder());
    const bool may_hold_runs = decoder.find("ByteFallback") != std::string::npos;
    const bool may_hold_a_token = decoder.find("BPEDecoder") != std::string::npos;
    if (may_hold_runs || may_hold_a_token) continue;
    for (int i = 0; i < 200; ++i) {
      const Ids ids = random_ids(subject, random);
      StreamDecoder stream(subject.tokenizer);
      std::string text;
      for (std::size_t n = 0; n < ids.size(); ++n) {
        text += stream.push(ids[n]);
        const std::string whole = decode_whole(subject, std::span(ids).first(n + 1), true);
        ASSERT_TRUE(whole == text || whole == text + "\uFFFD") << subject.name;
      }
    }
  }
}

const Subject& subject(const std::string& name) {
  for (const Subject& candidate : subjects()) {
    if (candidate.name == name) return candidate;
  }
  throw std::out_of_range(name);
}

Ids ids_of_bytes(const Subject& subject, std::string_view bytes) {
  Ids ids;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    std::string token = fmt::format("<0x{:02X}>", byte);
    if (subject.name == "byte_level_bpe") {
      token.clear();
      append_utf8(token, kByteLevelAlphabet[byte]);
    }
    ids.push_back(subject.tokenizer.token_to_id(token).value());
  }
  return ids;
}

std::vector<std::string> pieces(const Subject& subject, const Ids& ids) {
  StreamDecoder decoder(subject.tokenizer);
  std::vector<std::string> list;
  for (const std::int32_t id : ids) list.push_back(decoder.push(id));
  list.push_back(decoder.finish());
  return list;
}

TEST(StreamDecoder, AnEmojiOverFourTokensComesOnceAndWhole) {
  const Subject& bpe = subject("byte_level_bpe");
  EXPECT_EQ(pieces(bpe, ids_of_bytes(bpe, "a😊b")),
            (std::vector<std::string>{"a", "", "", "", "😊", "b", ""}));
  // A generation that ends inside it.
  EXPECT_EQ(pieces(bpe, ids_of_bytes(bpe, "a\xF0\x9F\x98")),
            (std::vector<std::string>{"a", "", "", "", "\uFFFD"}));
  const Subject& fallback = subject("fallback_bpe");
  Ids ids = ids_of_bytes(fallback, "😊");
  ids.push_back(fallback.tokenizer.token_to_id("a").value());
  EXPECT_EQ(pieces(fallback, ids), (std::vector<std::string>{"", "", "", "", "😊a", ""}));
}

TEST(StreamDecoder, InvalidBytesDoNotStall) {
  const Subject& bpe = subject("byte_level_bpe");
  EXPECT_EQ(pieces(bpe, ids_of_bytes(bpe, "\xF0\x9F\xF0\x9F\x98\xFF\x80")),
            (std::vector<std::string>{"", "", "\uFFFD", "", "", "\uFFFD\uFFFD", "\uFFFD", ""}));
  const Subject& fallback = subject("fallback_bpe");
  EXPECT_EQ(pieces(fallback, ids_of_bytes(fallback, "\xC3\xA9\xC3\x28\x41")),
            (std::vector<std::string>{"", "", "", "\uFFFD\uFFFD\uFFFD\uFFFD", "\uFFFD", ""}));
}

TEST(StreamDecoder, SpecialTokensGoAndOtherAddedTokensStay) {
  const Subject& bpe = subject("byte_level_bpe");
  const Ids ids = {bpe.tokenizer.token_to_id("<think>").value(),
                   bpe.tokenizer.token_to_id("<|end|>").value()};
  EXPECT_EQ(pieces(bpe, ids), (std::vector<std::string>{"<think>", "", ""}));
  StreamDecoder all(bpe.tokenizer, false);
  EXPECT_EQ(all.push(ids[1]), "<|end|>");
}

TEST(StreamDecoder, FaultsChangeNothing) {
  const Subject& bpe = subject("byte_level_bpe");
  StreamDecoder decoder(bpe.tokenizer);
  const Ids ids = ids_of_bytes(bpe, "é");
  EXPECT_EQ(decoder.push(ids[0]), "");
  for (const std::int32_t id : {-1, 1'000'000}) {
    try {
      decoder.push(id);
      ADD_FAILURE() << "accepted " << id;
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  }
  EXPECT_EQ(decoder.push(ids[1]), "é");
  EXPECT_EQ(decoder.finish(), "");
  EXPECT_THROW(decoder.push(ids[0]), LatticeError);
  EXPECT_THROW(decoder.finish(), LatticeError);
}

TEST(StreamDecoder, LongTextsTakeLinearTime) {
  for (const Subject& subject : subjects()) {
    std::mt19937_64 random(4);
    StreamDecoder decoder(subject.tokenizer);
    Ids ids = random_ids(subject, random);
    ids.push_back(0);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < 100'000; ++i) decoder.push(ids[i % ids.size()]);
    decoder.finish();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(elapsed.count(), kSanitized ? 60 : 10)
        << subject.name;  // quadratic time would take minutes
  }
}

}  // namespace
}  // namespace lattice
