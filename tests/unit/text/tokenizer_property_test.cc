#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "lattice/tokenizer.h"
#include "support/small_tokenizers.h"
#include "text/bpe_merges.h"
#include "text/byte_trie.h"
#include "text/phrase_matcher.h"
#include "text/truncation.h"

namespace lattice {
namespace {

// Characters that the small tokenizers treat in different ways, and any others.
char32_t any_character() {
  static constexpr char32_t kChosen[] = {' ',    'a',    'b',    'e',     'A', '.',  '1',
                                         '\n',   '\'',   't',    'h',     0,   0xE9, 0x301,
                                         0x65E5, 0x2581, 0x3000, 0x1F44D, '<', '['};
  if (*rc::gen::inRange(0, 4) != 0) {
    return kChosen[*rc::gen::inRange<std::size_t>(0, std::size(kChosen))];
  }
  const auto character = *rc::gen::inRange<std::uint32_t>(0, 0x110000);
  return character >= 0xD800 && character < 0xE000 ? U'\uFFFD' : character;
}

std::string any_text() {
  std::string text;
  const auto length = *rc::gen::inRange(0, 40);
  for (int i = 0; i < length; ++i) append_utf8(text, any_character());
  return text;
}

const Tokenizer& tokenizer(std::size_t index) {
  static const std::vector<Tokenizer> tokenizers = [] {
    std::vector<Tokenizer> list;
    for (const SmallTokenizer& small : small_tokenizers()) {
      list.push_back(Tokenizer::from_json(small.json, small.name));
    }
    return list;
  }();
  return tokenizers[index];
}

constexpr std::size_t kByteLevelBpe = 1, kNumTokenizers = 5;

RC_GTEST_PROP(TokenizerProperty, ByteLevelBpeDecodesToTheSameText, ()) {
  const std::string text = any_text();
  const Tokenizer& bpe = tokenizer(kByteLevelBpe);
  RC_ASSERT(bpe.decode(bpe.encode(text).ids, false) == text);
}

RC_GTEST_PROP(TokenizerProperty, OffsetsNeverGoBackAndChangeNoId, ()) {
  const std::string text = any_text();
  for (std::size_t i = 0; i + 1 < kNumTokenizers; ++i) {  // word_level has overlapping tokens
    const Encoding encoding =
        tokenizer(i).encode(text, {.add_special_tokens = false, .with_offsets = true});
    RC_ASSERT(encoding.ids == tokenizer(i).encode(text, {.add_special_tokens = false}).ids);
    std::size_t last_begin = 0;
    for (const auto& [begin, end] : encoding.offsets) {
      RC_ASSERT(begin >= last_begin && begin <= end && end <= text.size());
      last_begin = begin;
    }
  }
}

RC_GTEST_PROP(TokenizerProperty, TruncationKeepsAnEndOfTheTokens, ()) {
  const std::string text = any_text();
  const auto max_length = *rc::gen::inRange<std::size_t>(0, 12);
  for (std::size_t i = 0; i < kNumTokenizers; ++i) {
    const auto all = tokenizer(i).encode(text, {.add_special_tokens = false}).ids;
    const auto kept = static_cast<std::ptrdiff_t>(std::min(all.size(), max_length));
    const auto cut = [&](TruncationSide side) {
      return tokenizer(i)
          .encode(text, {.add_special_tokens = false, .max_length = max_length, .side = side})
          .ids;
    };
    RC_ASSERT(cut(TruncationSide::kRight) == std::vector(all.begin(), all.begin() + kept));
    RC_ASSERT(cut(TruncationSide::kLeft) == std::vector(all.end() - kept, all.end()));
  }
}

RC_GTEST_PROP(TokenizerProperty, LongestFirstNeverCutsTheShorterTextBelowTheLonger, ()) {
  const auto first = *rc::gen::inRange<std::size_t>(0, 50);
  const auto second = *rc::gen::inRange<std::size_t>(0, 50);
  const auto max_tokens = *rc::gen::inRange<std::size_t>(0, 100);
  const KeptTokens kept = truncate_tokens(first, second, max_tokens, TruncationSide::kRight,
                                          TruncationStrategy::kLongestFirst);
  const std::size_t a = kept.first.size(), b = kept.second.size();
  RC_ASSERT(a + b == std::min(first + second, max_tokens));
  RC_ASSERT(kept.truncated == (a + b < first + second));
  if (first <= second && a < first) RC_ASSERT(a <= b && b - a <= 1);
  if (first > second && b < second) RC_ASSERT(b <= a && a - b <= 1);
}

RC_GTEST_PROP(BpeMergesProperty, ShortAndLongWordsMergeAlike, ()) {
  // Tokens are runs of 'a' and 'b' spelled by their index, so that equal tokens cover equal text.
  constexpr std::int32_t kNumTokens = 64;  // 1 + bits of the spelling, as a number
  BpeMerges merges;
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  merges.reserve(count);
  const auto spell = [](std::int32_t token) {
    return std::bit_width(static_cast<unsigned>(token)) - 1;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto left = *rc::gen::inRange<std::int32_t>(2, kNumTokens);
    const auto right = *rc::gen::inRange<std::int32_t>(2, kNumTokens);
    const std::int32_t joined = (left << spell(right)) | (right & ((1 << spell(right)) - 1));
    merges.add(left, right, joined);
  }
  std::vector<BpeSymbol> symbols;
  const auto length = *rc::gen::inRange(0, 48);
  for (int i = 0; i < length; ++i) symbols.push_back({*rc::gen::inRange<std::int32_t>(2, 4), 1});
  auto as_long = symbols;
  merges.merge(symbols, true);
  merges.merge(as_long, false);
  RC_ASSERT(symbols.size() == as_long.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    RC_ASSERT(symbols[i].id == as_long[i].id && symbols[i].length == as_long[i].length);
  }
}

std::vector<std::string> any_phrases() {
  auto phrases = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'))));
  std::sort(phrases.begin(), phrases.end());
  phrases.erase(std::unique(phrases.begin(), phrases.end()), phrases.end());
  return phrases;
}

RC_GTEST_PROP(PhraseMatcherProperty, FindsTheLeftmostLongestPhrase, ()) {
  const std::vector<std::string> phrases = any_phrases();
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c', 'd'));
  const PhraseMatcher matcher(phrases);
  for (std::size_t from = 0; from <= text.size(); ++from) {
    std::optional<std::string> expected;
    std::size_t begin = from;
    for (; begin < text.size() && !expected; ++begin) {
      for (const std::string& phrase : phrases) {
        if (text.compare(begin, phrase.size(), phrase) == 0 &&
            (!expected || phrase.size() > expected->size())) {
          expected = phrase;
        }
      }
    }
    const auto match = matcher.find(text, from);
    RC_ASSERT(match.has_value() == expected.has_value());
    if (!match) continue;
    RC_ASSERT(match->range.begin == begin - 1);
    RC_ASSERT(phrases[match->phrase] == *expected && match->range.size() == expected->size());
  }
}

RC_GTEST_PROP(ByteTrieProperty, IsAMap, ()) {
  const auto map = *rc::gen::arbitrary<std::map<std::string, std::uint16_t>>();
  std::vector<ByteTrie::Item> items;
  for (const auto& [key, value] : map) items.push_back({key, value});
  const auto trie = ByteTrie::build(std::move(items), "test");
  RC_ASSERT(trie.has_value());
  const auto lookup = [&](const std::string& key) {
    const ByteTrie::Node node = trie->walk(ByteTrie::kRoot, key);
    return node == ByteTrie::kNone ? -1 : trie->value(node);
  };
  for (const auto& [key, value] : map) {
    RC_ASSERT(lookup(key) == value);
    const std::string longer = key + "x";
    RC_ASSERT(lookup(longer) == (map.count(longer) > 0 ? map.at(longer) : -1));
    if (!key.empty()) {
      const std::string shorter = key.substr(0, key.size() - 1);
      RC_ASSERT(lookup(shorter) == (map.count(shorter) > 0 ? map.at(shorter) : -1));
    }
  }
}

}  // namespace
}  // namespace lattice
