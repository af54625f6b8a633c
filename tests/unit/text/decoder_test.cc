#include "text/decoder.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace lattice {
namespace {

struct Case {
  const char* decoder;
  std::vector<std::string> tokens;
  const char* text;
};

constexpr const char* kCtc =
    R"({"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true})";
constexpr const char* kCtcRaw =
    R"({"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":false})";
constexpr const char* kStrip = R"({"type":"Strip","content":"é","start":1,"stop":2})";
constexpr const char* kBpe = R"({"type":"BPEDecoder","suffix":"</w>"})";
constexpr const char* kMetaspace =
    R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true})";
constexpr const char* kMetaspaceNever =
    R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":true})";
constexpr const char* kWordPiece = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
constexpr const char* kByteLevel = R"({"type":"ByteLevel"})";
constexpr const char* kReplace = R"({"type":"Replace","pattern":{"String":"aa"},"content":"b"})";

// The texts are those of the Hugging Face package.
const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {kCtc, {"<pad>", "<pad>", "h", "e", "e", "l", "l", "<pad>", "l", "o", "o", "o"}, "hello"},
      {kCtc, {"a", "|", "|", "b", " ", "n't"}, "a b n't"},
      {kCtc, {"<pad>"}, ""},
      {kCtc, {}, ""},
      {kCtcRaw, {"h", "h", "|", "i"}, "h|i"},
      {kStrip, {"ééaéé", "aé", "ééé", "bé"}, "éaab"},
      {kBpe, {"ab</w>", "c</w>d</w>", "e</w>"}, "ab c d e"},
      {kBpe, {"x"}, "x"},
      {R"({"type":"BPEDecoder","suffix":""})", {"aé", "b"}, " a é b"},
      {R"({"type":"ByteFallback"})",
       {"<0xC3>", "<0xA9>", "a", "<0xC3>", "<0x28>", "<0xff>", "<0xzz>", "<0x+f>", "<0x>"},
       "éa\uFFFD\uFFFD\uFFFD<0xzz>\x0f<0x>"},
      {kMetaspace, {"▁a▁b", "▁c", "▁"}, "ab c "},
      {kMetaspace, {"▁▁a"}, "a"},
      {kMetaspaceNever, {"▁a▁b", "▁c"}, " a b c"},
      {kReplace, {"aaa", "caac", ""}, "bacbc"},
      {R"({"type":"Replace","pattern":{"Regex":"[0-9]+|x$"},"content":"_"})",
       {"a12b3x", "xx"},
       "a_b__x_"},
      {kWordPiece,
       {"he", "##llo", ",", "do", "not", "go", ".", "it", "'", "s", "##", "n't"},
       "hello, do not go. it ' sn't"},
      {kWordPiece, {"##a"}, "##a"},
      {kByteLevel, {"Ġa", "Ã©", "Ã", "x y", "ð", "ŁĺĬ"}, " aé\uFFFDx y😊"},
      {kByteLevel, {"ï¿", "âĤ", "ð", "Ł"}, "\uFFFD\uFFFD\uFFFD"},
      {R"({"type":"Fuse"})", {"a", "b"}, "ab"}};
  return list;
}

std::unique_ptr<TokenDecoder> make(const std::string& json) {
  const JsonDocument document = value_or_throw(JsonDocument::parse(json, "test"));
  return value_or_throw(make_decoder(document.root(), "decoder"));
}

std::string decode(const TokenDecoder& decoder, const std::vector<std::string>& tokens) {
  class Join final : public TokenSink {
   public:
    explicit Join(std::string& text) : text_(text) {}
    void put(std::string_view part, bool) override { text_ += part; }
    void finish() override {}

   private:
    std::string& text_;
  };
  std::string text;
  const auto stream = decoder.stream(std::make_unique<Join>(text));
  for (const std::string& token : tokens) stream->put(token, true);
  stream->finish();
  return text;
}

TEST(TokenDecoder, DecodesLikeThePackage) {
  for (const Case& c : cases()) {
    EXPECT_EQ(decode(*make(c.decoder), c.tokens), c.text) << c.decoder;
  }
}

TEST(TokenDecoder, SequencesRunInOrder) {
  const std::vector<std::string> tokens = {"▁", "▁", "H", "H", "i", "i", "▁", "y", "o", "u"};
  const auto decoder =
      make(std::string(R"({"type":"Sequence","decoders":[)") + kCtc + "," + kMetaspace + "]}");
  EXPECT_EQ(decode(*decoder, tokens), "Hi you");
}

TEST(TokenDecoder, RefusesWhatItCannotHonourAndSaysWhere) {
  const std::pair<const char*, ErrorCode> bad[] = {
      {R"({"type":"Unheard"})", ErrorCode::kUnsupported},
      {R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"New"}]})",
       ErrorCode::kUnsupported},
      {R"({"type":"Strip","content":"ab","start":0,"stop":0})", ErrorCode::kMalformed},
      {R"({"type":"Metaspace","replacement":"▁","add_prefix_space":false,)"
       R"("prepend_scheme":"always"})",
       ErrorCode::kMalformed},
      {R"([])", ErrorCode::kMalformed}};
  for (const auto& [json, code] : bad) {
    const JsonDocument document = value_or_throw(JsonDocument::parse(json, "test"));
    const auto decoder = make_decoder(document.root(), "tokenizer.json: decoder");
    ASSERT_FALSE(decoder) << json;
    EXPECT_EQ(decoder.error().code, code) << json;
    EXPECT_TRUE(decoder.error().message.starts_with("tokenizer.json: decoder")) << json;
  }
}

TEST(TokenDecoder, LossyUtf8ReplacesMaximalSubparts) {
  const std::pair<std::string_view, std::string_view> pairs[] = {
      {"a\xC3", "a\uFFFD"},
      {"\xE2\x82(", "\uFFFD("},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xF0\x9F\x98", "\uFFFD"},
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xC0\xAF\xE0\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\x80z", "\uFFFDz"}};
  for (const auto& [bytes, expected] : pairs) {
    std::string text;
    append_utf8_lossy(bytes, text);
    EXPECT_EQ(text, expected);
  }
}

TEST(TokenDecoder, ACutBeforeAnIncompleteCharacterChangesNothing) {
  // All sequences of up to four of the bytes that matter.
  const std::string bytes = "a\x80\x90\xA0\xBF\xC3\xE0\xE2\xED\xF0\xF4\xFF";
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string all = texts[i];
    std::string whole, parts;
    append_utf8_lossy(all, whole);
    std::string held;
    for (const char byte : all) {
      held += byte;
      const std::size_t size = held.size() - incomplete_utf8_suffix(held);
      append_utf8_lossy(std::string_view(held).substr(0, size), parts);
      held.erase(0, size);
      ASSERT_LE(held.size(), 3u);
    }
    append_utf8_lossy(held, parts);
    ASSERT_EQ(whole, parts);
    if (all.size() == 4) continue;
    for (const char byte : bytes) texts.push_back(all + byte);
  }
}

}  // namespace
}  // namespace lattice
