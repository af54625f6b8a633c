#include <algorithm>

#include "text/tokenizer_impl.h"
#include "text/unicode/code_point.h"
#include "text/utf8.h"

namespace lattice {
namespace {

// Buffers that one thread reuses from text to text.
struct Scratch {
  std::vector<AddedTokens::Piece> pieces;
  std::vector<AddedTokens::Piece> inner_pieces;
  AlignedText normalized;
  PreTokenizedText words;
  TokenList tokens;

  // One huge text must not pin its buffers for the life of the thread.
  void shrink() {
    constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
    if (words.buffer.text.capacity() > kKeptBytes) *this = Scratch();
  }
};

class SequenceEncoder {
 public:
  SequenceEncoder(const TokenizerImpl& tokenizer, const LiteralSpans& literals, Scratch& scratch,
                  SequenceTokens& out)
      : tokenizer_(tokenizer), literals_(literals), scratch_(scratch), out_(out) {
    track_ = out.with_offsets || !literals.empty() ||
             (tokenizer.pre_tokenizer != nullptr && tokenizer.pre_tokenizer->needs_origin());
  }

  void encode(std::string_view text) {
    AddedTokens::Refusal refuse;
    if (!literals_.empty()) refuse = [this](ByteRange range) { return is_literal(range); };
    tokenizer_.added_tokens.cut_original(text, scratch_.pieces, refuse);
    for (const auto& piece : scratch_.pieces) {
      const std::string_view part = text.substr(piece.range.begin, piece.range.size());
      if (piece.id) {
        add_token(*piece.id, part, piece.range);
      } else if (tokenizer_.added_tokens.has_normalized()) {
        encode_with_normalized_tokens(part, piece.range.begin);
      } else {
        scratch_.words.buffer.assign(part, piece.range.begin, track_);
        normalize(scratch_.words.buffer);
        encode_words();
      }
    }
  }

 private:
  bool is_literal(ByteRange range) const {
    // The first span that ends behind the range's start.
    const auto span = std::ranges::upper_bound(literals_, range.begin, {},
                                               [](const auto& literal) { return literal.second; });
    return span != literals_.end() && span->first < range.end;
  }

  void normalize(AlignedText& text) const {
    if (tokenizer_.normalizer != nullptr) tokenizer_.normalizer->normalize(text);
  }

  void encode_with_normalized_tokens(std::string_view part, std::size_t begin) {
    AlignedText& text = scratch_.normalized;
    text.assign(part, begin, track_);
    normalize(text);
    AddedTokens::Refusal refuse;
    if (!literals_.empty()) {
      refuse = [&](ByteRange range) { return is_literal(text.origin_of(range)); };
    }
    tokenizer_.added_tokens.cut_normalized(text.text, scratch_.inner_pieces, refuse);
    for (const auto& piece : scratch_.inner_pieces) {
      if (piece.id) {
        const auto value =
            std::string_view(text.text).substr(piece.range.begin, piece.range.size());
        add_token(*piece.id, value, out_.with_offsets ? text.origin_of(piece.range) : ByteRange{});
      } else {
        text.slice_into(piece.range, scratch_.words.buffer);
        encode_words();
      }
    }
  }

  void encode_words() {
    PreTokenizedText& words = scratch_.words;
    words.reset_splits();
    if (words.splits.empty()) return;
    if (tokenizer_.pre_tokenizer != nullptr) tokenizer_.pre_tokenizer->split(words);
    TokenList& tokens = scratch_.tokens;
    tokens.clear();
    tokens.with_ranges = out_.with_offsets;
    tokenizer_.model->tokenize(words, tokens);
    out_.ids.insert(out_.ids.end(), tokens.ids.begin(), tokens.ids.end());
    for (const ByteRange range : tokens.ranges) {
      out_.offsets.push_back(words.buffer.origin_of(range));
    }
  }

  void add_token(std::int32_t id, std::string_view value, ByteRange origin) {
    if (out_.with_offsets) {
      auto spaces = count_spaces(value);
      spaces.token = out_.ids.size();
      out_.added.push_back(spaces);
      out_.offsets.push_back(origin);
    }
    out_.ids.push_back(id);
  }

  const TokenizerImpl& tokenizer_;
  const LiteralSpans& literals_;
  Scratch& scratch_;
  SequenceTokens& out_;
  bool track_ = false;
};

}  // namespace

SequenceTokens encode_sequence(const TokenizerImpl& tokenizer, std::string_view text,
                               bool with_offsets, const LiteralSpans& literals) {
  constexpr std::size_t kMaxTextBytes = (std::size_t{1} << 31) - 1;
  if (text.size() > kMaxTextBytes) {
    raise(ErrorCode::kTooLong, "[tokenizer] a text of {} bytes, more than {}", text.size(),
          kMaxTextBytes);
  }
  if (const auto bad = find_invalid_utf8(text)) {
    raise(ErrorCode::kInvalidArgument, "[tokenizer] the text is not valid UTF-8 at byte {}", *bad);
  }
  thread_local Scratch scratch;
  SequenceTokens out;
  out.with_offsets = with_offsets;
  SequenceEncoder(tokenizer, literals, scratch, out).encode(text);
  scratch.shrink();
  return out;
}

SequenceTokens::AddedSpaces count_spaces(std::string_view token) {
  constexpr char32_t kByteLevelSpace = 0x120;
  SequenceTokens::AddedSpaces spaces = {};
  bool leading = true;
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = next_code_point(token, at);
    const bool space = c == kByteLevelSpace || unicode::is_white_space(c);
    leading = leading && space;
    spaces.leading += leading ? 1 : 0;
    spaces.trailing = space ? spaces.trailing + 1 : 0;
  }
  return spaces;
}

}  // namespace lattice
