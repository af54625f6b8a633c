#include "engine/tokenized_text.h"

#include <algorithm>

#include "base/check.h"

namespace lattice {

PackedTexts::PackedTexts(std::span<const std::size_t> batch, std::span<const TokenizedText> texts) {
  for (const std::size_t i : batch) {
    ids_.insert(ids_.end(), texts[i].ids.begin(), texts[i].ids.end());
    type_ids_.insert(type_ids_.end(), texts[i].type_ids.begin(), texts[i].type_ids.end());
    cu_seqlens_.push_back(static_cast<std::int32_t>(ids_.size()));
  }
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
