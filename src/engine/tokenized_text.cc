#include "engine/tokenized_text.h"

#include <algorithm>

#include "base/check.h"

namespace lattice {

EncodeOptions encode_options(std::size_t max_length, Truncate truncate) {
  EncodeOptions options;
  options.max_length = max_length;
  options.side = truncate == Truncate::kStart ? TruncationSide::kLeft : TruncationSide::kRight;
  return options;
}

void raise_too_long(std::size_t num_tokens, std::size_t max_length, const std::string& source) {
  raise(ErrorCode::kTooLong,
        "the text has {} tokens, the limit is {} ({}); allow truncation or shorten it", num_tokens,
        max_length, source);
}

TokenizedText to_model_input(const LoadedModel& model, Encoding encoding) {
  if (encoding.ids.empty()) {
    raise(ErrorCode::kInvalidArgument,
          "the text has no tokens and this model adds no special tokens");
  }
  check_token_ids(encoding.ids, model.body->traits(), ErrorCode::kMalformed);
  if (!model.tokenizer.uses_type_ids()) std::ranges::fill(encoding.type_ids, 0);
  return {std::move(encoding.ids), std::move(encoding.type_ids), encoding.truncated};
}

PackedTexts::PackedTexts(std::span<const std::size_t> batch, std::span<const TokenizedText> texts,
                         std::size_t skip) {
  for (const std::size_t i : batch) {
    const auto ids = std::span(texts[i].ids).subspan(skip);
    const auto type_ids = std::span(texts[i].type_ids).subspan(skip);
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    type_ids_.insert(type_ids_.end(), type_ids.begin(), type_ids.end());
    cu_seqlens_.push_back(static_cast<std::int32_t>(ids_.size()));
  }
}

std::size_t common_prefix(std::span<const TokenizedText> texts) {
  const TokenizedText* first = nullptr;
  std::size_t length = 0;
  for (const TokenizedText& text : texts) {
    if (text.ids.empty()) continue;  // a text with an error
    if (first == nullptr) {
      first = &text;
      length = text.ids.size() - 1;
      continue;
    }
    length = std::min(length, text.ids.size() - 1);
    const auto end = first->ids.begin() + static_cast<std::ptrdiff_t>(length);
    const auto differs = std::mismatch(first->ids.begin(), end, text.ids.begin()).first;
    length = static_cast<std::size_t>(differs - first->ids.begin());
  }
  return length;
}

std::int64_t longest(std::span<const std::size_t> batch, std::span<const TokenizedText> texts) {
  std::size_t most = 0;
  for (const std::size_t i : batch) most = std::max(most, texts[i].ids.size());
  return static_cast<std::int64_t>(most);
}

std::vector<std::size_t> token_counts(std::span<const TokenizedText> texts) {
  std::vector<std::size_t> counts(texts.size());
  std::transform(texts.begin(), texts.end(), counts.begin(),
                 [](const TokenizedText& text) { return text.ids.size(); });
  return counts;
}

void check_token_ids(std::span<const std::int32_t> ids, const ModelTraits& traits, ErrorCode code) {
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= traits.vocab_size) {
      raise(code, "token id {} is outside the model's vocabulary of {}", id, traits.vocab_size);
    }
  }
}

}  // namespace lattice
