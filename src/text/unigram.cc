#include "text/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "io/config_reader.h"
#include "text/byte_trie.h"
#include "text/serde_number.h"
#include "text/utf8.h"
#include "text/word_cache.h"

namespace lattice {
namespace {

constexpr double kUnknownPenalty = 10.0;

// The best way to cut the word up to here: its score, its last piece, and where that begins.
struct PathNode {
  double score = 0;
  std::uint32_t begin = 0;
  std::int32_t id = kUnreached;
  static constexpr std::int32_t kUnreached = -1;
};

struct Scratch {
  WordCache& cache = thread_word_cache();
  std::vector<PathNode> path;      // one per byte of the word, and one for its end
  std::vector<BpeSymbol> symbols;  // the pieces, ids to be settled
};

Scratch& thread_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

struct UnigramConfig {
  std::vector<double> scores;  // by id
  std::optional<std::int32_t> unk_id;
  bool byte_fallback = false;
};

class Unigram final : public TokenModel {
 public:
  Unigram(Vocabulary vocabulary, UnigramConfig config, ByteTrie trie)
      : TokenModel(std::move(vocabulary)), config_(std::move(config)), trie_(std::move(trie)) {
    if (!config_.scores.empty()) {
      unknown_score_ = *std::min_element(config_.scores.begin(), config_.scores.end());
    }
    unknown_score_ -= kUnknownPenalty;
    for (std::size_t i = 0; i < 256; ++i) {
      fallback_ids_[i] = this->vocabulary().find(fmt::format("<0x{:02X}>", i)).value_or(-1);
    }
  }

  void tokenize(PreTokenizedText& text, TokenList& tokens) const override {
    if (text.byte_mapping_pending) text.map_bytes();
    Scratch& scratch = thread_scratch();
    for (const ByteRange word : text.splits) {
      tokenize_word(text.buffer.text, word, scratch, tokens);
    }
  }

 private:
  void tokenize_word(std::string_view text, ByteRange word, Scratch& scratch,
                     TokenList& tokens) const {
    const std::string_view view = text.substr(word.begin, word.size());
    WordCache::Entry* entry = nullptr;
    if (WordCache::fits(view)) {
      entry = &scratch.cache.place(number_, view);
      if (WordCache::holds(*entry, number_, view)) {
        WordCache::append(*entry, word, tokens);
        return;
      }
    }
    find_path(view, scratch.path);
    collect_pieces(scratch);
    bool fell_back = false;
    const std::size_t first = scratch.symbols.size();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < first; ++i) {
      BpeSymbol& symbol = scratch.symbols[i];
      const std::string_view piece = view.substr(begin, symbol.length);
      if (symbol.id == kUnknownRun) symbol.id = settle_unknown(piece);
      const std::size_t at = word.begin + begin;
      if (symbol.id == kFallback) {
        fell_back = true;
        for (const char byte : piece) tokens.add(fallback_id(byte), at, at + piece.size());
      } else {
        tokens.add(symbol.id, at, at + piece.size());
      }
      begin += piece.size();
    }
    // Fallback tokens all cover their whole run, which the cache cannot say.
    if (entry != nullptr && !fell_back) WordCache::store(*entry, number_, view, scratch.symbols);
    shrink(scratch);
  }

  // Viterbi. Ties go to the path that was found first, as in the library.
  void find_path(std::string_view word, std::vector<PathNode>& path) const {
    path.assign(word.size() + 1, PathNode());
    for (std::size_t begin = 0; begin < word.size();) {
      const double score = path[begin].score;
      const std::size_t length = utf8_length(word[begin]);
      bool has_character = false;
      ByteTrie::Node node = ByteTrie::kRoot;
      for (std::size_t end = begin; end < word.size();) {
        node = trie_.step(node, static_cast<unsigned char>(word[end]));
        ++end;
        if (node == ByteTrie::kNone) break;
        const std::int32_t id = trie_.value(node);
        if (id < 0) continue;
        improve(path[end], config_.scores[static_cast<std::size_t>(id)] + score, begin, id);
        has_character = has_character || end - begin == length;
      }
      if (!has_character) {
        improve(path[begin + length], unknown_score_ + score, begin, kUnknownRun);
      }
      begin += length;
    }
  }

  static void improve(PathNode& node, double score, std::size_t begin, std::int32_t id) {
    if (node.id != PathNode::kUnreached && !(score > node.score)) return;
    node = {score, static_cast<std::uint32_t>(begin), id};
  }

  // Follows the path back; neighbouring unknown pieces become one.
  void collect_pieces(Scratch& scratch) const {
    auto& symbols = scratch.symbols;
    symbols.clear();
    for (std::size_t end = scratch.path.size() - 1; end > 0;) {
      const PathNode& node = scratch.path[end];
      const auto length = static_cast<std::uint32_t>(end - node.begin);
      const bool unknown = node.id == kUnknownRun || node.id == config_.unk_id;
      if (unknown && !symbols.empty() && symbols.back().id == kUnknownRun) {
        symbols.back().length += length;
      } else {
        symbols.push_back({unknown ? kUnknownRun : node.id, length});
      }
      end = node.begin;
    }
    std::reverse(symbols.begin(), symbols.end());
  }

  // A run of unknown pieces may still spell a token, which the path avoided for its score.
  std::int32_t settle_unknown(std::string_view piece) const {
    if (const auto id = vocabulary().find(piece)) return *id;
    if (config_.byte_fallback &&
        std::all_of(piece.begin(), piece.end(), [&](char b) { return fallback_id(b) >= 0; })) {
      return kFallback;
    }
    if (!config_.unk_id) {
      raise(ErrorCode::kMalformed, "[tokenizer] an unknown character, and the model has no unk_id");
    }
    return *config_.unk_id;
  }

  std::int32_t fallback_id(char byte) const {
    return fallback_ids_[static_cast<unsigned char>(byte)];
  }

  // One huge text must not pin its buffers for the life of the thread.
  static void shrink(Scratch& scratch) {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (scratch.path.capacity() > kKept) scratch.path = {};
    if (scratch.symbols.capacity() > kKept) scratch.symbols = {};
  }

  static constexpr std::int32_t kUnknownRun = -2;
  static constexpr std::int32_t kFallback = -3;

  UnigramConfig config_;
  ByteTrie trie_;
  double unknown_score_ = 0;
  std::array<std::int32_t, 256> fallback_ids_;
  std::uint32_t number_ = next_model_number();  // tells models apart in the word cache
};

// [["token", score], ...]; the id is the index.
Result<Vocabulary> read_vocab(const Json& list, const std::string& where,
                              std::vector<double>& scores) {
  if (!list.is_array() || list.items().size() > static_cast<std::size_t>(Vocabulary::kMaxId)) {
    return fail(ErrorCode::kMalformed, "{}: expected an array of [\"token\", score]", where);
  }
  Vocabulary vocabulary;
  for (const Json& item : list.items()) {
    const auto pair = item.items();
    const auto token = pair.size() == 2 ? pair[0].as_string() : std::nullopt;
    const auto score = pair.size() == 2 ? pair[1].as_double() : std::nullopt;
    if (!token || !score || token->size() > Vocabulary::kMaxTokenBytes) {
      return fail(ErrorCode::kMalformed, "{}[{}]: expected [\"token\", score]", where,
                  scores.size());
    }
    vocabulary.insert_another(*token, static_cast<std::int32_t>(scores.size()));
    scores.push_back(serde_number(*score));
  }
  if (auto status = vocabulary.build_index(where); !status) return forward_error(status);
  return vocabulary;
}

}  // namespace

Result<std::unique_ptr<TokenModel>> make_unigram(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  UnigramConfig config;
  config.byte_fallback = reader.get_bool("byte_fallback", false);
  const Json* vocab = reader.get("vocab");
  if (vocab == nullptr) {
    reader.set_error(ErrorCode::kMalformed, where + ": vocab: missing");
  } else if (reader.has("unk_id")) {
    const auto last = static_cast<std::int64_t>(vocab->items().size()) - 1;
    config.unk_id = static_cast<std::int32_t>(
        reader.require_int("unk_id", 0, std::clamp<std::int64_t>(last, 0, Vocabulary::kMaxId)));
    if (last < 0) reader.set_error(ErrorCode::kMalformed, where + ": unk_id without a vocab");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto vocabulary = read_vocab(*vocab, where + ".vocab", config.scores);
  if (!vocabulary) return forward_error(vocabulary);
  std::vector<ByteTrie::Item> items;
  items.reserve(vocabulary->entries().size());
  for (const Vocabulary::Entry& entry : vocabulary->entries()) {
    items.push_back({vocabulary->text(entry), entry.id});
  }
  auto trie = ByteTrie::build(std::move(items), where);
  if (!trie) return forward_error(trie);
  return std::make_unique<Unigram>(std::move(*vocabulary), std::move(config), std::move(*trie));
}

}  // namespace lattice
