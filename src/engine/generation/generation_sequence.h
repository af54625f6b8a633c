#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "engine/generation/drafter.h"
#include "engine/generation/language_model.h"
#include "engine/generation/sampler.h"
#include "engine/generation/sequence_state.h"
#include "engine/generation/stop_matcher.h"
#include "lattice/generation.h"
#include "text/stream_decoder.h"

namespace lattice {

/// What one generation was asked for, checked and resolved against the model's files.
struct GenerationRequest {
  std::vector<std::int32_t> prompt_ids;  ///< at least one
  GenerateOptions options;
  std::vector<std::int32_t> stop_token_ids;
  std::vector<std::string> stop_strings;
  std::size_t max_tokens = 0;  ///< at least one; keeps within the context
  OnText on_text;              ///< or empty
};

/// One text being generated: says what it wants from the next pass, and takes the logits. One
/// thread at a time.
class GenerationSequence {
 public:
  /// `state` holds the prompt's first tokens, or none, but not all of them.
  GenerationSequence(const LanguageModel& model, SequenceState& state, GenerationRequest request);

  bool finished() const { return finished_; }
  /// Whether the whole prompt has been fed, so that a pass is a token and its drafts.
  bool decoding() const { return state_.num_tokens() + 1 >= ids_.size(); }

  /// Ends it here if the caller does not want more.
  void end_if_cancelled();

  /// The part of the next pass, of at most `max_tokens` tokens (at least one): valid until take().
  LanguageModel::Input next_input(std::size_t max_tokens);

  /// The logits of next_input(), row-major, and what LanguageModel::forward() returned. Throws
  /// LatticeError(kInternal) for logits that are no numbers; with skip_errors the sequence has
  /// finished with that error instead.
  void take(std::span<const float> logits, std::string_view other_device = {});

  /// The result, once finished.
  Generation finish();

 private:
  using Clock = std::chrono::steady_clock;

  void make_drafter();
  void take_logits(std::span<const float> logits);
  void propose_drafts(std::size_t room);
  void emit(std::int32_t id, std::span<const float> logits);
  void emit_text(std::string_view piece);
  void end(FinishReason reason);

  const LanguageModel& model_;
  SequenceState& state_;
  GenerationRequest request_;
  Sampler sampler_;
  StreamDecoder decoder_;
  StopMatcher stops_;
  std::unique_ptr<Drafter> drafter_;  // nullptr without speculation

  std::vector<std::int32_t> ids_;    // prompt and output
  std::vector<std::int32_t> input_;  // of the current pass
  std::size_t num_drafts_ = 0;       // at its end
  std::vector<float> hidden_;        // of its tokens, for a drafter that wants them
  std::optional<std::size_t> snapshot_place_;
  Generation result_;
  bool finished_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point first_token_ = start_;
};

/// Runs all sequences until they have finished, together: every pass holds a token of each one that
/// decodes and a part of the prompts of the others. The texts do not depend on the company.
void run_generation(const LanguageModel& model, std::span<GenerationSequence* const> sequences);

}  // namespace lattice
