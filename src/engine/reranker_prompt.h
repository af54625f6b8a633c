#pragma once

#include "engine/pair_encoder.h"

namespace lattice {

/// The prompt that the Qwen3 rerankers were trained on: a fixed system message and beginning of the
/// user's, "<Instruct>: ...\n<Query>: ...\n<Document>: ..." and a fixed end with a closed think
/// block, each tokenized for itself; only the middle is truncated. Source: the published usage of
/// Qwen3-Reranker (arXiv:2506.05176).
class RerankerPrompt final : public PairEncoder {
 public:
  /// `default_instruction` is used where a request names none; "": the published one.
  RerankerPrompt(const LoadedModel& model, std::string default_instruction);

  TokenizedText encode(const TextPair& text, const PairRequest& request) const override;
  std::size_t num_added_tokens() const override;

 private:
  std::vector<std::int32_t> encode_part(std::string_view text) const;

  const LoadedModel& model_;
  std::string default_instruction_;
  std::vector<std::int32_t> prefix_;
  std::vector<std::int32_t> suffix_;
};

}  // namespace lattice
