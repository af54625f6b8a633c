#include "text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "io/config_reader.h"
#include "text/bpe_merges.h"
#include "text/byte_alphabet.h"
#include "text/utf8.h"
#include "text/word_cache.h"

namespace lattice {
namespace {

constexpr std::string_view kMetaspace = "\xE2\x96\x81";  // U+2581

struct BpeConfig {
  std::optional<std::string> unk_token;
  std::string continuing_subword_prefix;
  std::string end_of_word_suffix;
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

struct Scratch {
  WordCache& cache = thread_word_cache();
  std::vector<BpeSymbol> symbols;
  std::string piece;
};

Scratch& thread_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

class Bpe final : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, BpeConfig config, BpeMerges merges, bool cuts_at_metaspace)
      : TokenModel(std::move(vocabulary)),
        config_(std::move(config)),
        merges_(std::move(merges)),
        cuts_at_metaspace_(cuts_at_metaspace && is_plain() && piece_id(kMetaspace) >= 0 &&
                           !config_.unk_token.value_or("").ends_with(kMetaspace)) {
    for (std::size_t i = 0; i < 256; ++i) {
      fallback_ids_[i] = piece_id(fmt::format("<0x{:02X}>", i));
      std::string character;
      append_utf8(character, kByteLevelAlphabet[i]);
      alphabet_ids_[i] = piece_id(character);
      if (i < 128) ascii_ids_[i] = piece_id(std::string(1, static_cast<char>(i)));
    }
    if (config_.unk_token) unk_id_ = piece_id(*config_.unk_token);
    reads_bytes_ = is_plain() && std::all_of(alphabet_ids_.begin(), alphabet_ids_.end(),
                                             [](std::int32_t id) { return id >= 0; });
    if (reads_bytes_ && config_.ignore_merges) index_bytes();
  }

  void tokenize(PreTokenizedText& text, TokenList& tokens) const override {
    if (text.byte_mapping_pending && !reads_bytes_) text.map_bytes();
    Scratch& scratch = thread_scratch();
    const std::string_view view = text.buffer.text;
    if (text.byte_mapping_pending) {
      for (const ByteRange word : text.splits) tokenize_word<true>(view, word, scratch, tokens);
    } else if (cuts_at_metaspace_ && !config_.ignore_merges) {
      for (const ByteRange word : text.splits) cut_at_metaspace(view, word, scratch, tokens);
    } else {
      for (const ByteRange word : text.splits) tokenize_word<false>(view, word, scratch, tokens);
    }
  }

 private:
  bool is_plain() const {
    return config_.continuing_subword_prefix.empty() && config_.end_of_word_suffix.empty();
  }

  std::int32_t piece_id(std::string_view piece) const {
    return vocabulary().find(piece).value_or(-1);
  }

  // The vocabulary once more, keyed by the bytes that the tokens spell in the byte-level alphabet.
  void index_bytes() {
    std::string bytes;
    for (const Vocabulary::Entry& entry : vocabulary().entries()) {
      bytes.clear();
      if (append_byte_level_bytes(vocabulary().text(entry), bytes)) {
        byte_vocabulary_.insert(bytes, entry.id);
      }
    }
  }

  // No merge joins a metaspace to something else before it, so words may be cut there, which keeps
  // them short where the pre-tokenizer does not.
  void cut_at_metaspace(std::string_view text, ByteRange word, Scratch& scratch,
                        TokenList& tokens) const {
    text = text.substr(0, word.end);
    std::size_t begin = word.begin;
    std::size_t end = begin;
    while (end < word.end) {
      // A piece is a run of metaspaces and what follows up to the next.
      while (text.substr(end).starts_with(kMetaspace)) end += kMetaspace.size();
      end = std::min(text.find(kMetaspace, end), word.end);
      tokenize_word<false>(text, {begin, end}, scratch, tokens);
      begin = end;
    }
  }

  template <bool kRawBytes>
  void tokenize_word(std::string_view text, ByteRange word, Scratch& scratch,
                     TokenList& tokens) const {
    const std::string_view view = text.substr(word.begin, word.size());
    if (config_.ignore_merges) {
      const auto id = kRawBytes ? byte_vocabulary_.find(view) : vocabulary().find(view);
      if (id) {
        tokens.add(*id, word.begin, word.end);
        return;
      }
    }
    if (!WordCache::fits(view)) {
      split_word<kRawBytes>(view, scratch);
    } else {
      WordCache::Entry& entry = scratch.cache.place(number_, view);
      if (WordCache::holds(entry, number_, view)) {
        WordCache::append(entry, word, tokens);
        return;
      }
      split_word<kRawBytes>(view, scratch);
      WordCache::store(entry, number_, view, scratch.symbols);
    }
    append_symbols(scratch.symbols, word, tokens);
  }

  template <bool kRawBytes>
  void split_word(std::string_view word, Scratch& scratch) const {
    scratch.symbols.clear();
    bool simple = true;
    if constexpr (kRawBytes) {
      for (const char byte : word) {
        scratch.symbols.push_back({alphabet_ids_[static_cast<unsigned char>(byte)], 1});
      }
    } else {
      simple = add_characters(word, scratch);
    }
    merges_.merge(scratch.symbols, simple);
  }

  // False when there are unknown or fallback tokens among the symbols.
  bool add_characters(std::string_view word, Scratch& scratch) const {
    bool simple = true;
    std::uint32_t unknown_length = 0;  // of the unknown token that is due; 0: none
    const auto flush_unknown = [&] {
      if (unknown_length > 0) scratch.symbols.push_back({unk_id_, unknown_length});
      unknown_length = 0;
    };
    for (std::size_t at = 0; at < word.size();) {
      const auto length = static_cast<std::uint32_t>(utf8_length(word[at]));
      const bool is_last = at + length >= word.size();
      const std::string_view piece = decorate(word.substr(at, length), at == 0, is_last, scratch);
      at += length;
      const std::int32_t id = length == 1 && is_plain()
                                  ? ascii_ids_[static_cast<unsigned char>(piece[0])]
                                  : piece_id(piece);
      if (id >= 0) {
        flush_unknown();
        scratch.symbols.push_back({id, length});
        continue;
      }
      simple = false;
      // Like the library, fallback bytes go before an unknown token that is due.
      if (config_.byte_fallback && add_fallback(piece, scratch.symbols)) continue;
      if (!config_.unk_token) continue;  // nothing stands for it: the library leaves it out
      if (unk_id_ < 0) {
        raise(ErrorCode::kMalformed,
              "[tokenizer] an unknown character, and the unknown token \"{}\" is not in the "
              "vocabulary",
              *config_.unk_token);
      }
      if (!config_.fuse_unk) flush_unknown();
      unknown_length += length;
    }
    flush_unknown();
    return simple;
  }

  std::string_view decorate(std::string_view piece, bool is_first, bool is_last,
                            Scratch& scratch) const {
    const bool prefix = !is_first && !config_.continuing_subword_prefix.empty();
    const bool suffix = is_last && !config_.end_of_word_suffix.empty();
    if (!prefix && !suffix) return piece;
    scratch.piece.clear();
    if (prefix) scratch.piece += config_.continuing_subword_prefix;
    scratch.piece += piece;
    if (suffix) scratch.piece += config_.end_of_word_suffix;
    return scratch.piece;
  }

  bool add_fallback(std::string_view piece, std::vector<BpeSymbol>& symbols) const {
    const auto id_of = [&](char byte) { return fallback_ids_[static_cast<unsigned char>(byte)]; };
    if (std::any_of(piece.begin(), piece.end(), [&](char byte) { return id_of(byte) < 0; })) {
      return false;
    }
    for (const char byte : piece) symbols.push_back({id_of(byte), 1});
    return true;
  }

  BpeConfig config_;
  BpeMerges merges_;
  std::uint32_t number_ = next_model_number();  // tells models apart in the word cache
  bool cuts_at_metaspace_;
  bool reads_bytes_ = false;
  std::int32_t unk_id_ = -1;
  std::array<std::int32_t, 256> alphabet_ids_, fallback_ids_;
  std::array<std::int32_t, 128> ascii_ids_;
  Vocabulary byte_vocabulary_;
};

struct MergeRules {
  BpeMerges merges;
  bool joins_before_metaspace = false;
};

class MergeReader {
 public:
  MergeReader(const Vocabulary& vocabulary, std::size_t prefix_bytes, std::string where)
      : vocabulary_(vocabulary), prefix_bytes_(prefix_bytes), where_(std::move(where)) {}

  Result<MergeRules> read(const Json& list) {
    if (!list.is_array()) {
      return fail(ErrorCode::kMalformed, "{}: expected an array, got {}", where_, list.kind_name());
    }
    rules_.merges.reserve(list.items().size());
    const bool as_strings = !list.items().empty() && list.items()[0].is_string();
    std::size_t index = 0;
    for (const Json& item : list.items()) {
      auto status = as_strings ? read_string(item, index) : read_pair(item, index);
      if (!status) return forward_error(status);
      ++index;
    }
    return std::move(rules_);
  }

 private:
  Result<void> read_string(const Json& item, std::size_t index) {
    const auto text = item.as_string();
    if (text && text->starts_with("#version")) return {};
    const std::size_t space = text ? text->find(' ') : std::string_view::npos;
    if (space == std::string_view::npos || text->find(' ', space + 1) != std::string_view::npos) {
      return fail(ErrorCode::kMalformed, "{}[{}]: expected two tokens and one space", where_,
                  index);
    }
    return add(text->substr(0, space), text->substr(space + 1), index);
  }

  Result<void> read_pair(const Json& item, std::size_t index) {
    const auto parts = item.items();
    if (parts.size() != 2 || !parts[0].is_string() || !parts[1].is_string()) {
      return fail(ErrorCode::kMalformed, "{}[{}]: expected two tokens", where_, index);
    }
    return add(*parts[0].as_string(), *parts[1].as_string(), index);
  }

  Result<void> add(std::string_view left, std::string_view right, std::size_t index) {
    if (right.size() < prefix_bytes_) {
      return fail(ErrorCode::kMalformed, "{}[{}]: \"{}\" lacks the continuing_subword_prefix",
                  where_, index, right);
    }
    joined_.assign(left);
    joined_ += right.substr(prefix_bytes_);
    std::int32_t ids[3];
    std::size_t count = 0;
    for (const std::string_view token : {left, right, std::string_view(joined_)}) {
      const auto id = vocabulary_.find(token);
      if (!id) {
        return fail(ErrorCode::kMalformed, "{}[{}]: \"{}\" is not in the vocabulary", where_, index,
                    token);
      }
      ids[count++] = *id;
    }
    rules_.merges.add(ids[0], ids[1], ids[2]);
    rules_.joins_before_metaspace = rules_.joins_before_metaspace ||
                                    (right.starts_with(kMetaspace) && !left.ends_with(kMetaspace));
    return {};
  }

  const Vocabulary& vocabulary_;
  std::size_t prefix_bytes_;
  std::string where_;
  std::string joined_;
  MergeRules rules_;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> make_bpe(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  BpeConfig config;
  if (reader.has("unk_token")) config.unk_token = reader.require_string("unk_token");
  config.continuing_subword_prefix = reader.get_string("continuing_subword_prefix", "");
  config.end_of_word_suffix = reader.get_string("end_of_word_suffix", "");
  config.fuse_unk = reader.get_bool("fuse_unk", false);
  config.byte_fallback = reader.get_bool("byte_fallback", false);
  config.ignore_merges = reader.get_bool("ignore_merges", false);
  if (reader.get_double("dropout", 0) != 0) {
    reader.set_error(ErrorCode::kUnsupported, where + ": dropout: ids would be random");
  }
  const Json* vocab = reader.get("vocab");
  const Json* merges = reader.get("merges");
  if (vocab == nullptr || merges == nullptr) {
    reader.set_error(ErrorCode::kMalformed, where + ": vocab or merges missing");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto vocabulary = Vocabulary::from_json(*vocab, where + ".vocab");
  if (!vocabulary) return forward_error(vocabulary);
  auto rules = MergeReader(*vocabulary, config.continuing_subword_prefix.size(), where + ".merges")
                   .read(*merges);
  if (!rules) return forward_error(rules);
  return std::make_unique<Bpe>(std::move(*vocabulary), std::move(config), std::move(rules->merges),
                               !rules->joins_before_metaspace);
}

}  // namespace lattice
