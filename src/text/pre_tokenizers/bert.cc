#include <array>

#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/unicode/code_point.h"
#include "text/utf8.h"

namespace lattice::pre_tokenizers {
namespace {

enum Kind : std::uint8_t { kWord, kSpace, kPunct, kNonAscii };

std::array<Kind, 256> make_byte_kinds() {
  std::array<Kind, 256> kinds{};
  kinds.fill(kNonAscii);
  for (char32_t c = 0; c < 128; ++c) {
    const unsigned flags = unicode::flag_table()[c];
    kinds[c] = (flags & unicode::kWhiteSpace) != 0    ? kSpace
               : (flags & unicode::kPunctuation) != 0 ? kPunct
                                                      : kWord;
  }
  return kinds;
}

/// Removes white space and isolates punctuation.
class Bert final : public PreTokenizer {
 private:
  void do_split(PreTokenizedText& text) const override {
    const auto& flags = unicode::flag_table();
    const std::string_view source = text.buffer.text;
    auto& out = text.spare_splits;
    out.clear();
    for (const ByteRange split : text.splits) {
      std::size_t word = split.begin;  // where the word in progress began
      for (std::size_t at = split.begin; at < split.end;) {
        const std::size_t begin = at;
        Kind kind = kinds_[static_cast<unsigned char>(source[at])];
        if (kind == kWord) {
          ++at;
          continue;
        }
        if (kind == kNonAscii) {
          const unsigned found = flags[next_code_point(source, at)];
          if ((found & (unicode::kWhiteSpace | unicode::kPunctuation)) == 0) continue;
          kind = (found & unicode::kWhiteSpace) != 0 ? kSpace : kPunct;
        } else {
          ++at;
        }
        if (word < begin) out.push_back({word, begin});
        if (kind == kPunct) out.push_back({begin, at});
        word = at;
      }
      if (word < split.end) out.push_back({word, split.end});
    }
    text.splits.swap(out);
  }

  std::array<Kind, 256> kinds_ = make_byte_kinds();
};

}  // namespace

Made make_bert(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Bert>();
}

}  // namespace lattice::pre_tokenizers
