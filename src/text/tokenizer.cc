#include "lattice/tokenizer.h"

#include <algorithm>

#include "base/check.h"
#include "text/stream_decoder.h"
#include "text/tokenizer_impl.h"
#include "text/utf8.h"

namespace lattice {
namespace {

// The spaces at the ends of each token, looked up in the order of the tokens.
class TokenSpaces {
 public:
  TokenSpaces(const TokenizerImpl& tokenizer, const SequenceTokens& tokens)
      : tokenizer_(tokenizer), tokens_(tokens) {}

  SequenceTokens::AddedSpaces at(std::size_t index) {
    while (next_ < tokens_.added.size() && tokens_.added[next_].token < index) ++next_;
    if (next_ < tokens_.added.size() && tokens_.added[next_].token == index) {
      return tokens_.added[next_];
    }
    return count_spaces(tokenizer_.model->vocabulary().token(tokens_.ids[index]).value_or(""));
  }

 private:
  const TokenizerImpl& tokenizer_;
  const SequenceTokens& tokens_;
  std::size_t next_ = 0;
};

// Moves `at` over `count` characters towards the end of `text`, but not past `limit`.
std::size_t advance(std::string_view text, std::size_t at, std::size_t count, std::size_t limit) {
  for (; count > 0 && at < limit; --count) at += utf8_length(text[at]);
  return std::min(at, limit);
}

// The place `count` characters before `at`, or nullopt when there are not so many.
std::optional<std::size_t> retreat(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0; --count) {
    if (at == 0) return std::nullopt;
    do {
      --at;
    } while (at > 0 && is_utf8_continuation(text[at]));
  }
  return at;
}

void trim(std::string_view text, SequenceTokens::AddedSpaces spaces, AssemblyPlan::Trim how,
          bool is_first_token, ByteRange& range) {
  if (spaces.leading > 0) {
    const bool is_first = (how.at_start && is_first_token) || range.begin == 0;
    if (is_first && how.add_prefix_space && spaces.leading == 1) spaces.leading = 0;
    range.begin = advance(text, range.begin, spaces.leading, range.end);
  }
  if (spaces.trailing > 0) {
    if (const auto end = retreat(text, range.end, spaces.trailing)) {
      range.end = std::max(*end, range.begin);
    }
  }
}

class Assembler {
 public:
  Assembler(const TokenizerImpl& tokenizer, bool with_offsets)
      : tokenizer_(tokenizer), with_offsets_(with_offsets) {}

  void add_special(const AssemblyPlan::Piece& piece) {
    out_.ids.insert(out_.ids.end(), piece.ids.begin(), piece.ids.end());
    extend(piece.ids.size(), piece.type_id, 1);
    if (with_offsets_) out_.offsets.resize(out_.ids.size(), {0, 0});
  }

  void add_sequence(const AssemblyPlan::Piece& piece, std::string_view text,
                    const SequenceTokens& tokens, ByteRange kept) {
    const auto first = static_cast<std::ptrdiff_t>(kept.begin);
    const auto last = static_cast<std::ptrdiff_t>(kept.end);
    out_.ids.insert(out_.ids.end(), tokens.ids.begin() + first, tokens.ids.begin() + last);
    extend(kept.size(), piece.type_id, 0);
    if (!with_offsets_) return;
    TokenSpaces spaces(tokenizer_, tokens);
    for (std::size_t i = kept.begin; i < kept.end; ++i) {
      ByteRange range = tokens.offsets[i];
      for (const AssemblyPlan::Trim& how : piece.trims) {
        trim(text, spaces.at(i), how, i == kept.begin, range);
      }
      out_.offsets.emplace_back(range.begin, range.end);
    }
  }

  Encoding take() { return std::move(out_); }

 private:
  void extend(std::size_t count, std::int32_t type_id, std::uint8_t special) {
    out_.type_ids.insert(out_.type_ids.end(), count, type_id);
    out_.special_tokens_mask.insert(out_.special_tokens_mask.end(), count, special);
  }

  const TokenizerImpl& tokenizer_;
  bool with_offsets_;
  Encoding out_;
};

std::optional<std::size_t> room_for_text(std::optional<std::size_t> max_length,
                                         std::size_t num_added) {
  if (!max_length) return std::nullopt;
  if (*max_length < num_added) {
    raise(ErrorCode::kInvalidArgument,
          "[tokenizer] max_length {} is smaller than the {} special tokens", *max_length,
          num_added);
  }
  return *max_length - num_added;
}

Encoding encode_texts(const TokenizerImpl& tokenizer, std::string_view first,
                      std::optional<std::string_view> second, EncodeOptions options) {
  if (options.use_file_truncation && tokenizer.truncation) {
    options.max_length = tokenizer.truncation->max_length;
    options.side = tokenizer.truncation->side;
    options.strategy = tokenizer.truncation->strategy;
  }
  const bool pair = second.has_value();
  const auto max_tokens =
      room_for_text(options.max_length,
                    options.add_special_tokens ? tokenizer.post_processor.num_added(pair) : 0);
  const SequenceTokens tokens =
      encode_sequence(tokenizer, first, options.with_offsets, options.literal_spans);
  SequenceTokens second_tokens;
  std::optional<std::size_t> num_second;
  if (pair) {
    second_tokens = encode_sequence(tokenizer, *second, options.with_offsets);
    num_second = second_tokens.ids.size();
  }
  const KeptTokens kept =
      truncate_tokens(tokens.ids.size(), num_second, max_tokens, options.side, options.strategy);
  Assembler assembler(tokenizer, options.with_offsets);
  std::size_t untruncated = 0;
  for (const auto& piece : tokenizer.post_processor.plan(pair, options.add_special_tokens).pieces) {
    if (piece.source == AssemblyPlan::Source::kSpecial) {
      assembler.add_special(piece);
      untruncated += piece.ids.size();
    } else if (piece.source == AssemblyPlan::Source::kFirst) {
      assembler.add_sequence(piece, first, tokens, kept.first);
      untruncated += tokens.ids.size();
    } else {
      assembler.add_sequence(piece, second.value_or(""), second_tokens, kept.second);
      untruncated += second_tokens.ids.size();
    }
  }
  Encoding encoding = assembler.take();
  encoding.truncated = kept.truncated;
  encoding.num_tokens_untruncated = untruncated;
  return encoding;
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerImpl> impl) : impl_(std::move(impl)) {}

Tokenizer Tokenizer::from_directory(const std::filesystem::path& directory,
                                    const TokenizerOptions& options) {
  return Tokenizer(value_or_throw(load_tokenizer(directory, options)));
}

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& source) {
  return Tokenizer(value_or_throw(parse_tokenizer(json, source)));
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return encode_texts(*impl_, text, std::nullopt, options);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                const EncodeOptions& options) const {
  return encode_texts(*impl_, first, second, options);
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  StreamDecoder decoder(*this, skip_special_tokens);
  std::string text;
  for (const std::int32_t id : ids) text += decoder.push(id);
  return text += decoder.finish();
}

std::optional<std::string> Tokenizer::id_to_token(std::int32_t id) const {
  const auto token = impl_->id_to_token(id);
  return token ? std::optional(std::string(*token)) : std::nullopt;
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  return impl_->token_to_id(token);
}

std::size_t Tokenizer::vocab_size() const {
  return impl_->model->vocabulary().size() + impl_->added_tokens.num_new();
}

std::size_t Tokenizer::id_bound() const { return impl_->id_bound; }

std::size_t Tokenizer::num_special_tokens(bool pair) const {
  return impl_->post_processor.num_added(pair);
}

const SpecialTokenIds& Tokenizer::special_token_ids() const { return impl_->special_ids; }

std::optional<std::size_t> Tokenizer::model_max_length() const { return impl_->model_max_length; }

bool Tokenizer::uses_type_ids() const { return impl_->uses_type_ids; }

std::optional<std::size_t> Tokenizer::file_truncation_length() const {
  return impl_->truncation ? std::optional(impl_->truncation->max_length) : std::nullopt;
}

const std::string& Tokenizer::fingerprint() const { return impl_->fingerprint; }

}  // namespace lattice
