#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/loaded_model.h"
#include "lattice/model.h"

namespace lattice {

/// One text, or pair of texts, as the model gets it.
struct TokenizedText {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;  ///< as long as ids
  bool truncated = false;
};

/// Special tokens, at most `max_length` tokens, cut at the end that `truncate` names.
EncodeOptions encode_options(std::size_t max_length, Truncate truncate);

/// Throws LatticeError(kTooLong) with both lengths, and where the limit comes from.
[[noreturn]] void raise_too_long(std::size_t num_tokens, std::size_t max_length,
                                 const std::string& source);

/// An encoding as the model takes it: type ids are 0 where the tokenizer does not use them. Throws
/// LatticeError: kInvalidArgument when there is no token, kMalformed for an id that the model does
/// not know.
TokenizedText to_model_input(const LoadedModel& model, Encoding encoding);

/// Token ids of some texts, one behind the other.
class PackedTexts {
 public:
  /// The first `skip` tokens of every text are left out.
  PackedTexts(std::span<const std::size_t> batch, std::span<const TokenizedText> texts,
              std::size_t skip = 0);

  SequenceLayout layout() const { return {cu_seqlens_}; }
  /// Valid while this object lives.
  TokenBatch tokens() const {
    return {.input_ids = ids_, .token_type_ids = type_ids_, .layout = layout()};
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int32_t> type_ids_;
  std::vector<std::int32_t> cu_seqlens_ = {0};
};

/// How many tokens all texts begin with, leaving each at least one of its own.
std::size_t common_prefix(std::span<const TokenizedText> texts);

/// The most tokens of a text of the batch.
std::int64_t longest(std::span<const std::size_t> batch, std::span<const TokenizedText> texts);

/// The numbers of tokens, for make_batches().
std::vector<std::size_t> token_counts(std::span<const TokenizedText> texts);

/// Tokenizes on all threads: prepare(i) gives the i-th of `count` texts, and may throw
/// LatticeError. Errors go into `reports`; without `skip_errors` the first of them is thrown, with
/// its index.
template <typename Prepare>
std::vector<TokenizedText> prepare_texts(ThreadPool& threads, std::span<TextReport> reports,
                                         bool skip_errors, const Prepare& prepare) {
  std::vector<TokenizedText> texts(reports.size());
  threads.parallel_for(reports.size(), [&](std::size_t i, std::size_t) {
    try {
      texts[i] = prepare(i);
    } catch (const LatticeError& error) {
      reports[i].error = error.error();
    }
  });
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].error && !skip_errors) {
      raise(reports[i].error->code, "text {}: {}", i, reports[i].error->message);
    }
    reports[i].num_tokens = texts[i].ids.size();
    reports[i].truncated = texts[i].truncated;
  }
  return texts;
}

/// Throws LatticeError(`code`) for an id outside the vocabulary.
void check_token_ids(std::span<const std::int32_t> ids, const ModelTraits& traits, ErrorCode code);

}  // namespace lattice
