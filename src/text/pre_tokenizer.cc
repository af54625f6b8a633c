#include "text/pre_tokenizer.h"

#include <array>
#include <string_view>

#include "text/byte_level.h"
#include "text/pre_tokenizers/pre_tokenizers.h"

namespace lattice {
namespace {

using pre_tokenizers::Made;

struct Maker {
  std::string_view type;
  Made (*make)(const Json& json, const std::string& where);
};

constexpr std::array kMakers = {
    Maker{"BertPreTokenizer", pre_tokenizers::make_bert},
    Maker{"ByteLevel", pre_tokenizers::make_byte_level},
    Maker{"CharDelimiterSplit", pre_tokenizers::make_delimiter_split},
    Maker{"Digits", pre_tokenizers::make_digits},
    Maker{"FixedLength", pre_tokenizers::make_fixed_length},
    Maker{"Metaspace", pre_tokenizers::make_metaspace},
    Maker{"Punctuation", pre_tokenizers::make_punctuation},
    Maker{"Sequence", pre_tokenizers::make_sequence},
    Maker{"Split", pre_tokenizers::make_split},
    Maker{"UnicodeScripts", pre_tokenizers::make_unicode_scripts},
    Maker{"Whitespace", pre_tokenizers::make_whitespace},
    Maker{"WhitespaceSplit", pre_tokenizers::make_whitespace_split},
};

}  // namespace

void PreTokenizedText::reset_splits() {
  splits.clear();
  byte_mapping_pending = false;
  if (!buffer.text.empty()) splits.push_back({0, buffer.text.size()});
}

void PreTokenizedText::map_bytes() {
  if (!byte_mapping_pending) return;
  byte_mapping_pending = false;
  // Where every split will be: each byte becomes a character of one or two bytes.
  spare_splits.clear();
  std::size_t source = 0;
  std::size_t target = 0;
  const auto advance_to = [&](std::size_t end) {
    for (; source < end; ++source) {
      const auto byte = static_cast<unsigned char>(buffer.text[source]);
      target += kByteLevelAlphabet[byte] < 0x80 ? 1 : 2;
    }
    return target;
  };
  for (const ByteRange split : splits) {
    const std::size_t begin = advance_to(split.begin);
    spare_splits.push_back({begin, advance_to(split.end)});
  }
  map_bytes_to_alphabet(buffer);
  splits.swap(spare_splits);
}

Result<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json& json,
                                                         const std::string& where) {
  if (json.is_null()) return nullptr;
  auto type = component_type(json, where);
  if (!type) return forward_error(type);
  for (const Maker& maker : kMakers) {
    if (maker.type == *type) return maker.make(json, where);
  }
  return unknown_type(where, *type);
}

}  // namespace lattice
