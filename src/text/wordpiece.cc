#include "text/wordpiece.h"

#include <limits>

#include "io/config_reader.h"
#include "text/byte_trie.h"

namespace lattice {
namespace {

class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceConfig config, ByteTrie trie)
      : TokenModel(std::move(vocabulary)), config_(std::move(config)), trie_(std::move(trie)) {
    continuing_root_ = trie_.walk(ByteTrie::kRoot, config_.continuing_subword_prefix);
    unk_id_ = this->vocabulary().find(config_.unk_token).value_or(-1);
  }

  void tokenize(PreTokenizedText& text, TokenList& tokens) const override {
    if (text.byte_mapping_pending) text.map_bytes();
    for (const ByteRange word : text.splits) tokenize_word(text.buffer.text, word, tokens);
  }

 private:
  void tokenize_word(std::string_view text, ByteRange word, TokenList& tokens) const {
    const std::size_t first_token = tokens.ids.size();
    std::size_t begin = word.begin;
    ByteTrie::Node root = ByteTrie::kRoot;
    bool bad = is_too_long(text.substr(word.begin, word.size()));
    while (!bad && begin < word.end) {
      const auto [id, end] = longest_match(root, text, begin, word.end);
      bad = id < 0;
      if (bad) break;
      tokens.add(id, begin, end);
      begin = end;
      root = continuing_root_;
    }
    if (bad) add_unknown(word, first_token, tokens);
  }

  struct Match {
    std::int32_t id;
    std::size_t end;
  };
  Match longest_match(ByteTrie::Node node, std::string_view text, std::size_t begin,
                      std::size_t end) const {
    Match best = {-1, begin};
    for (std::size_t i = begin; i < end && node != ByteTrie::kNone;) {
      node = trie_.step(node, static_cast<unsigned char>(text[i]));
      ++i;
      if (node == ByteTrie::kNone) break;
      if (const std::int32_t id = trie_.value(node); id >= 0) best = {id, i};
    }
    return best;
  }

  bool is_too_long(std::string_view word) const {
    if (word.size() <= config_.max_input_chars_per_word) return false;
    std::size_t chars = 0;
    for (const char byte : word) chars += (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u;
    return chars > config_.max_input_chars_per_word;
  }

  void add_unknown(ByteRange word, std::size_t first_token, TokenList& tokens) const {
    if (unk_id_ < 0) {
      raise(ErrorCode::kMalformed,
            "[tokenizer] an unknown word, and the unknown token \"{}\" is "
            "not in the vocabulary",
            config_.unk_token);
    }
    tokens.ids.resize(first_token);
    if (tokens.with_ranges) tokens.ranges.resize(first_token);
    tokens.add(unk_id_, word.begin, word.end);
  }

  WordPieceConfig config_;
  ByteTrie trie_;
  ByteTrie::Node continuing_root_ = ByteTrie::kNone;
  std::int32_t unk_id_ = -1;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> make_wordpiece(Vocabulary vocabulary, WordPieceConfig config,
                                                   const std::string& where) {
  std::vector<ByteTrie::Item> items;
  items.reserve(vocabulary.size());
  for (const Vocabulary::Entry& entry : vocabulary.entries()) {
    items.push_back({vocabulary.text(entry), entry.id});
  }
  auto trie = ByteTrie::build(std::move(items), where);
  if (!trie) return forward_error(trie);
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(config), std::move(*trie));
}

Result<std::unique_ptr<TokenModel>> make_wordpiece(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  WordPieceConfig config;
  config.unk_token = reader.require_string("unk_token");
  config.continuing_subword_prefix = reader.require_string("continuing_subword_prefix");
  config.max_input_chars_per_word = static_cast<std::size_t>(
      reader.require_int("max_input_chars_per_word", 0, std::numeric_limits<std::int64_t>::max()));
  const Json* vocab = reader.get("vocab");
  if (vocab == nullptr) reader.set_error(ErrorCode::kMalformed, where + ": vocab: missing");
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto vocabulary = Vocabulary::from_json(*vocab, where + ".vocab");
  if (!vocabulary) return forward_error(vocabulary);
  return make_wordpiece(std::move(*vocabulary), std::move(config), where);
}

}  // namespace lattice
