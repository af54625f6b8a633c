#include "text/added_tokens.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "io/config_reader.h"
#include "text/unicode/code_point.h"
#include "text/utf8.h"

namespace lattice {
namespace {

constexpr std::size_t kMaxContentBytes = 4096;

// The character that ends at byte `end` > 0.
char32_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (is_utf8_continuation(text[at])) --at;
  return next_code_point(text, at);
}

bool word_touches(std::string_view text, ByteRange range) {
  if (range.begin > 0 && unicode::is_regex_word(character_before(text, range.begin))) return true;
  std::size_t at = range.end;
  return at < text.size() && unicode::is_regex_word(next_code_point(text, at));
}

std::size_t skip_space_backwards(std::string_view text, std::size_t begin, std::size_t limit) {
  while (begin > limit) {
    const char32_t c = character_before(text, begin);
    if (!unicode::is_white_space(c)) break;
    begin -= utf8_length(c);
  }
  return begin;
}

std::size_t skip_space_forwards(std::string_view text, std::size_t end) {
  while (end < text.size()) {
    std::size_t next = end;
    if (!unicode::is_white_space(next_code_point(text, next))) break;
    end = next;
  }
  return end;
}

std::string normalized_form(const std::string& content, const Normalizer* normalizer) {
  if (normalizer == nullptr) return content;
  AlignedText text;
  text.assign(content, 0, false);
  normalizer->normalize(text);
  return std::move(text.text);
}

}  // namespace

Result<std::vector<AddedTokens::Listed>> AddedTokens::parse(const Json& array,
                                                            const std::string& where) {
  std::vector<Listed> tokens;
  if (array.is_null()) return tokens;
  if (!array.is_array()) {
    return fail(ErrorCode::kMalformed, "{}: expected an array, got {}", where, array.kind_name());
  }
  for (std::size_t i = 0; i < array.items().size(); ++i) {
    const std::string path = fmt::format("{}[{}]", where, i);
    ConfigReader reader(array.items()[i], path);
    Listed listed;
    listed.id = reader.require_int("id", 0, Vocabulary::kMaxId);
    listed.token.content = reader.require_string("content");
    listed.token.single_word = reader.get_bool("single_word", false);
    listed.token.lstrip = reader.get_bool("lstrip", false);
    listed.token.rstrip = reader.get_bool("rstrip", false);
    listed.token.special = reader.get_bool("special", false);
    listed.token.normalized = reader.get_bool("normalized", !listed.token.special);
    if (auto status = reader.finish(); !status) return forward_error(status);
    tokens.push_back(std::move(listed));
  }
  return tokens;
}

Result<AddedTokens> AddedTokens::build(const std::vector<Listed>& tokens,
                                       const Vocabulary& vocabulary, const Normalizer* normalizer,
                                       const std::string& where) {
  AddedTokens added;
  std::set<std::string, std::less<>> specials;
  auto next_id = static_cast<std::int32_t>(vocabulary.size());
  for (const auto& [token, listed_id] : tokens) {
    if (token.content.empty()) continue;
    if (token.content.size() > kMaxContentBytes) {
      return fail(ErrorCode::kUnsupported, "{}: a token of {} bytes, more than {}", where,
                  token.content.size(), kMaxContentBytes);
    }
    auto id = added.find(token.content);
    const bool is_listed_before = id.has_value();
    if (is_listed_before && added.entries_.at(*id).token == token) continue;
    if (!id) id = vocabulary.find(token.content);
    if (!id) {
      id = next_id++;
      ++added.num_new_;
    }
    if (listed_id && *listed_id != *id) {
      log_warning("{}: \"{}\" is listed with id {}, but has id {}", where, token.content,
                  *listed_id, *id);
    }
    added.ids_[token.content] = *id;
    if (added.entries_.find(*id) == added.entries_.end()) added.order_.push_back(*id);
    if (token.special) specials.insert(token.content);
    added.entries_[*id] = {
        token, token.normalized ? normalized_form(token.content, normalizer) : token.content,
        false};
    added.id_bound_ = std::max(added.id_bound_, static_cast<std::size_t>(*id) + 1);
  }
  for (auto& [id, entry] : added.entries_) entry.special = specials.count(entry.decoded) > 0;
  if (auto status = added.build_matchers(where); !status) return forward_error(status);
  return added;
}

Result<void> AddedTokens::build_matchers(const std::string& where) {
  std::vector<std::string> originals, normalized;
  std::set<std::string_view> seen;
  for (const std::int32_t id : order_) {
    const Entry& entry = entries_.at(id);
    if (entry.decoded.empty()) {
      return fail(ErrorCode::kUnsupported, "{}: the normalizer leaves nothing of the token \"{}\"",
                  where, entry.token.content);
    }
    if (!entry.token.normalized) {
      originals.push_back(entry.token.content);
      original_.ids.push_back(id);
    } else if (seen.insert(entry.decoded).second) {
      normalized.push_back(entry.decoded);
      normalized_.ids.push_back(id);
    }
  }
  original_.matcher = PhraseMatcher(originals);
  normalized_.matcher = PhraseMatcher(normalized);
  return {};
}

// Like the library, a token that takes white space along may overlap the next one, whose own range
// then starts before the end of its predecessor, or is left empty and so left out.
void AddedTokens::cut(const MatchSet& set, std::string_view text, const Refusal& refuse,
                      std::vector<Piece>& pieces) const {
  pieces.clear();
  std::size_t gap_begin = 0;
  std::size_t search_from = 0;
  std::size_t space_end = 0;  // of the white space that was skipped last
  while (const auto match = set.matcher.find(text, search_from)) {
    if (refuse && refuse(match->range)) {
      // Another token may begin inside of it.
      search_from = match->range.begin + 1;
      continue;
    }
    search_from = match->range.end;
    ByteRange range = match->range;
    const std::int32_t id = set.ids[match->phrase];
    const AddedToken& token = entries_.at(id).token;
    if (token.single_word && word_touches(text, range)) continue;
    if (token.lstrip) {
      range.begin = std::max(skip_space_backwards(text, range.begin, gap_begin), gap_begin);
    }
    if (token.rstrip) {
      if (range.end >= space_end) space_end = skip_space_forwards(text, range.end);
      range.end = space_end;
    }
    if (gap_begin < range.begin) pieces.push_back({std::nullopt, {gap_begin, range.begin}});
    if (range.begin < range.end) pieces.push_back({id, range});
    gap_begin = range.end;
  }
  if (gap_begin < text.size()) pieces.push_back({std::nullopt, {gap_begin, text.size()}});
}

std::optional<std::int32_t> AddedTokens::find(std::string_view content) const {
  const auto it = ids_.find(content);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::string_view> AddedTokens::token(std::int32_t id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? std::nullopt : std::optional<std::string_view>(it->second.decoded);
}

bool AddedTokens::is_special(std::int32_t id) const {
  const auto it = entries_.find(id);
  return it != entries_.end() && it->second.special;
}

}  // namespace lattice
