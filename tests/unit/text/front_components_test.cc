// Files that must be refused, and how; pieces that the golden file does not cover.
#include <gtest/gtest.h>

#include "front_pipeline.h"
#include "text/normalizers/charsmap.h"
#include "text/unicode/code_point.h"

namespace lattice {
namespace {

struct Refusal {
  const char* json;
  ErrorCode code;
  const char* message;
};

TEST(Normalizer, RefusesByNameWhatItDoesNotKnow) {
  const Refusal kRefusals[] = {
      {R"({"type":"Foo"})", ErrorCode::kUnsupported, R"(t: unknown type "Foo")"},
      {R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Bar"}]})",
       ErrorCode::kUnsupported, R"(t.normalizers[1]: unknown type "Bar")"},
      {R"({"type":"NFC","form":1})", ErrorCode::kUnsupported, R"(t: unknown key "form")"},
      {R"({"type":"Replace","pattern":{"Regex":"a\\1"},"content":""})", ErrorCode::kUnsupported,
       R"(t.pattern: regular expression "a\1": the escape \1 at byte 1 is not supported)"},
      {R"({"type":"Replace","pattern":"a","content":""})", ErrorCode::kMalformed,
       R"(t: pattern: expected {"String": ...} or {"Regex": ...})"},
      {R"({"type":"Strip","strip_left":true})", ErrorCode::kMalformed,
       "t: strip_right: missing, expected a boolean"},
      {R"({"type":"Precompiled","precompiled_charsmap":"AAA"})", ErrorCode::kMalformed,
       "t: precompiled_charsmap: not base64"},
      {R"({"type":"Precompiled","precompiled_charsmap":"/////w=="})", ErrorCode::kMalformed,
       "t: precompiled_charsmap: character map of 4 bytes with a trie of 4294967292 bytes"},
      {R"([])", ErrorCode::kMalformed, "t: expected an object, got array"},
  };
  for (const Refusal& refusal : kRefusals) {
    const auto document = JsonDocument::parse(refusal.json, "t");
    ASSERT_TRUE(document) << refusal.json;
    const auto made = make_normalizer(document->root(), "t");
    ASSERT_FALSE(made) << refusal.json;
    EXPECT_EQ(made.error().code, refusal.code) << refusal.json;
    EXPECT_EQ(made.error().message, refusal.message);
  }
}

TEST(PreTokenizer, RefusesByNameWhatItDoesNotKnow) {
  const Refusal kRefusals[] = {
      {R"({"type":"Foo"})", ErrorCode::kUnsupported, R"(t: unknown type "Foo")"},
      {R"({"type":"Sequence","pretokenizers":[{"type":"Foo"}]})", ErrorCode::kUnsupported,
       R"(t.pretokenizers[0]: unknown type "Foo")"},
      {R"({"type":"Metaspace","replacement":"ab"})", ErrorCode::kMalformed,
       R"(t: replacement: expected one character, got "ab")"},
      {R"({"type":"Metaspace","replacement":"_","prepend_scheme":"last"})", ErrorCode::kMalformed,
       R"(t: prepend_scheme: unknown scheme "last")"},
      {R"({"type":"Metaspace","replacement":"_","add_prefix_space":false})", ErrorCode::kMalformed,
       R"(t: add_prefix_space is false, but prepend_scheme is not "never")"},
      {R"({"type":"Punctuation","behavior":"Merged"})", ErrorCode::kMalformed,
       R"(t: behavior: unknown behavior "Merged")"},
      {R"({"type":"FixedLength","length":0})", ErrorCode::kMalformed,
       "t: length: expected an integer in 1..9223372036854775807, got 0"},
  };
  for (const Refusal& refusal : kRefusals) {
    const auto document = JsonDocument::parse(refusal.json, "t");
    ASSERT_TRUE(document) << refusal.json;
    const auto made = make_pre_tokenizer(document->root(), "t");
    ASSERT_FALSE(made) << refusal.json;
    EXPECT_EQ(made.error().code, refusal.code) << refusal.json;
    EXPECT_EQ(made.error().message, refusal.message);
  }
}

TEST(PreTokenizer, ByteLevelMappingIsPendingUntilItIsNeeded) {
  const auto document = JsonDocument::parse(
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true})", "t");
  const auto made = make_pre_tokenizer(document->root(), "t");
  ASSERT_TRUE(made) << made.error().message;
  PreTokenizedText text;
  text.buffer.assign("\xC3\xA9 b", 0, true);
  text.reset_splits();
  (*made)->split(text);
  EXPECT_TRUE(text.byte_mapping_pending);
  EXPECT_EQ(text.buffer.text, " \xC3\xA9 b");
  EXPECT_EQ(text.splits, (std::vector<ByteRange>{{0, 3}, {3, 5}}));
  // A byte inside a character stems from the whole of it.
  EXPECT_EQ(text.buffer.origin_of({2, 3}), (ByteRange{0, 2}));
  text.map_bytes();
  EXPECT_EQ(text.buffer.text,
            "\xC4\xA0\xC3\x83\xC2\xA9\xC4\xA0"
            "b");
  EXPECT_EQ(text.splits, (std::vector<ByteRange>{{0, 6}, {6, 9}}));
  EXPECT_EQ(text.buffer.origin_of({4, 6}), (ByteRange{0, 2}));
}

TEST(PreTokenizer, MetaspaceFirstLooksAtTheOriginalText) {
  const auto document = JsonDocument::parse(
      R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first"})", "t");
  const auto made = make_pre_tokenizer(document->root(), "t");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE((*made)->needs_origin());
  PreTokenizedText text;
  for (const std::size_t begin : {std::size_t{0}, std::size_t{5}}) {
    text.buffer.assign("ab cd", begin, false);  // identity: the origin is known without tracking
    text.reset_splits();
    (*made)->split(text);
    EXPECT_EQ(text.buffer.text, begin == 0 ? "_ab_cd" : "ab_cd");
  }
}

TEST(Charsmap, DamagedOnesNeverReadOutside) {
  // A trie of one unit whose children lie far outside, and one with a value outside.
  for (const std::string& blob :
       {std::string("\4\0\0\0\0\xFC\xFF\x7F", 8), std::string("\4\0\0\0\0\1\0\0a", 9)}) {
    const auto map = normalizers::Charsmap::parse(blob);
    ASSERT_TRUE(map) << map.error().message;
    for (int byte = 0; byte < 256; ++byte) {
      const std::string key(3, static_cast<char>(byte));
      EXPECT_FALSE(map->find(key)) << byte;
    }
  }
  EXPECT_FALSE(normalizers::Charsmap::parse(""));
  EXPECT_FALSE(normalizers::Charsmap::parse(std::string("\4\0\0\0\0\0\0\0\xFF", 9)));
}

TEST(Base64, DecodesOnlyTheCanonicalForm) {
  EXPECT_EQ(normalizers::decode_base64(""), "");
  EXPECT_EQ(normalizers::decode_base64("Zg=="), "f");
  EXPECT_EQ(normalizers::decode_base64("Zm8="), "fo");
  EXPECT_EQ(normalizers::decode_base64("Zm9v"), "foo");
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v\n", "Zm-_"}) {
    EXPECT_FALSE(normalizers::decode_base64(bad)) << bad;
  }
}

TEST(CodePoint, FlagsHaveTheExtentsOfTheReference) {
  // Counts as printed when the tables were generated.
  const auto count = [](unicode::CodePointFlag flag) {
    std::size_t found = 0;
    for (char32_t c = 0; c < 0x110000; ++c) {
      if (c < 0xD800 || c >= 0xE000) found += unicode::has_flag(c, flag) ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(count(unicode::kWhiteSpace), 25u);
  EXPECT_EQ(count(unicode::kNumeric), 1924u);
  EXPECT_EQ(count(unicode::kPunctuation), 726u);
  EXPECT_EQ(count(unicode::kRegexWord), 144667u);
  EXPECT_EQ(count(unicode::kBertDropped), 137681u);
  EXPECT_EQ(count(unicode::kBertChinese), 81264u);
  EXPECT_EQ(count(unicode::kMarkNonspacing), 1549u);
  EXPECT_EQ(count(unicode::kCombiningMark), 2097u);
  EXPECT_EQ(count(unicode::kHasLowercase), 1488u);
}

}  // namespace
}  // namespace lattice
