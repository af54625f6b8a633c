#include "engine/generation/generation_sequence.h"

#include <algorithm>

#include "engine/generation/logprobs.h"
#include "engine/generation/mtp_drafter.h"
#include "engine/generation/ngram_drafter.h"

namespace lattice {
namespace {

// Prompt tokens of one pass: enough to saturate the processor, few enough to bound memory.
constexpr std::size_t kPassTokens = 512;

// A draft needs this many tokens in common with the text's end: two are as often as not by chance,
// so that drafts would cost more than they bring.
constexpr std::size_t kMinNgram = 2;
constexpr std::size_t kMaxNgram = 4;

double milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// A guess of the head costs a good part of a pass, one from earlier text next to nothing.
std::size_t max_drafts(const GenerateOptions& options) {
  constexpr std::size_t kNgramDrafts = 8;
  constexpr std::size_t kMtpDrafts = 1;
  return options.max_drafts.value_or(options.speculation == Speculation::kMtp ? kMtpDrafts
                                                                              : kNgramDrafts);
}

bool contains(std::span<const std::int32_t> ids, std::int32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

GenerationSequence::GenerationSequence(const LanguageModel& model, SequenceState& state,
                                       GenerationRequest request)
    : model_(model),
      state_(state),
      request_(std::move(request)),
      sampler_(request_.options.sampling, static_cast<std::size_t>(model.vocab_size())),
      decoder_(model.tokenizer(), request_.options.skip_special_tokens),
      stops_(request_.stop_strings),
      ids_(request_.prompt_ids),
      snapshot_place_(state.snapshot_place(ids_.size())) {
  sampler_.accept_prompt(ids_);
  make_drafter();
  result_.prompt_ids = request_.prompt_ids;
  result_.timings.prompt_tokens = ids_.size();
  result_.timings.cached_tokens = state.num_tokens();
}

void GenerationSequence::make_drafter() {
  switch (request_.options.speculation) {
    case Speculation::kNone:
      return;
    case Speculation::kNgram:
      drafter_ = std::make_unique<NgramDrafter>(kMinNgram, kMaxNgram);
      break;
    case Speculation::kMtp:
      if (state_.draft() == nullptr) state_.set_draft(model_.make_draft_state());
      drafter_ = std::make_unique<MtpDrafter>(model_, *state_.draft(), state_.num_tokens());
      break;
  }
  drafter_->accept(ids_);
}

LanguageModel::Input GenerationSequence::next_input(std::size_t max_tokens) {
  const std::size_t known = state_.num_tokens();
  std::size_t end = std::min(ids_.size(), known + std::max<std::size_t>(max_tokens, 1));
  if (snapshot_place_ && known < *snapshot_place_) end = std::min(end, *snapshot_place_);
  input_.assign(ids_.begin() + static_cast<std::ptrdiff_t>(known),
                ids_.begin() + static_cast<std::ptrdiff_t>(end));
  num_drafts_ = 0;
  const bool whole = end == ids_.size();
  if (whole && known + 1 == end) propose_drafts(max_tokens - 1);
  return {.ids = input_,
          .state = &state_.state(),
          .num_logits = whole ? static_cast<std::int64_t>(1 + num_drafts_) : 0,
          .hidden = drafter_ && drafter_->wants_hidden() ? &hidden_ : nullptr};
}

void GenerationSequence::end_if_cancelled() {
  if (finished_ || !request_.options.cancelled || !request_.options.cancelled()) return;
  finished_ = true;
  result_.finish_reason = FinishReason::kCancelled;
}

void GenerationSequence::propose_drafts(std::size_t room) {
  if (!drafter_) return;
  // All drafts lie in the chunk of the token before them, so that any of them can be taken back.
  const std::size_t in_chunk = kDeltaRuleChunk - 1 - state_.num_tokens() % kDeltaRuleChunk;
  const std::size_t wanted = request_.max_tokens - result_.ids.size() - 1;
  const std::size_t most = std::min({room, in_chunk, wanted, max_drafts(request_.options)});
  if (most == 0) return;
  const std::vector<std::int32_t> drafts = drafter_->propose(most);
  num_drafts_ = drafts.size();
  input_.insert(input_.end(), drafts.begin(), drafts.end());
}

void GenerationSequence::take(std::span<const float> logits, std::string_view other_device) {
  if (!other_device.empty()) result_.other_device = other_device;
  const std::size_t known = state_.num_tokens();
  state_.append(input_);
  try {
    if (!logits.empty()) take_logits(logits);
  } catch (const LatticeError& error) {
    if (!request_.options.skip_errors) throw;
    result_ = {};
    result_.error = error.error();
    finished_ = true;
    return;
  }
  if (drafter_ && drafter_->wants_hidden()) {
    const std::size_t kept = state_.num_tokens() - known;
    drafter_->accept_hidden(std::span(hidden_).first(kept * model_.hidden_size()));
  }
  if (snapshot_place_ && state_.num_tokens() == *snapshot_place_) {
    state_.take_snapshot();
    snapshot_place_.reset();
  }
}

void GenerationSequence::take_logits(std::span<const float> logits) {
  const auto vocab = static_cast<std::size_t>(model_.vocab_size());
  const std::size_t first_draft = input_.size() - num_drafts_;
  std::size_t accepted = 0;
  for (std::size_t row = 0; row <= num_drafts_ && !finished_; ++row) {
    const std::span<const float> row_logits = logits.subspan(row * vocab, vocab);
    const std::int32_t id = sampler_.sample(row_logits);
    emit(id, row_logits);
    if (row == num_drafts_ || input_[first_draft + row] != id) break;
    ++accepted;
  }
  result_.timings.drafted_tokens += num_drafts_;
  result_.timings.accepted_tokens += accepted;
  state_.truncate(state_.num_tokens() - num_drafts_ + accepted);
}

void GenerationSequence::emit(std::int32_t id, std::span<const float> logits) {
  if (result_.ids.empty()) first_token_ = Clock::now();
  sampler_.accept(id);
  ids_.push_back(id);
  result_.ids.push_back(id);
  if (drafter_) drafter_->accept(std::span(&id, 1));
  if (request_.options.logprobs) {
    result_.logprobs.push_back(compute_logprobs(logits, id, *request_.options.logprobs));
  }
  if (contains(request_.stop_token_ids, id)) return end(FinishReason::kStop);
  // Padding of the vocabulary has no token, and no text in transformers either.
  if (model_.tokenizer().id_to_token(id)) emit_text(decoder_.push(id));
  if (!finished_ && result_.ids.size() >= request_.max_tokens) end(FinishReason::kLength);
}

void GenerationSequence::emit_text(std::string_view piece) {
  const std::string safe = stops_.push(piece);
  result_.text += safe;
  if (!safe.empty() && request_.on_text && !request_.on_text(safe)) {
    finished_ = true;
    result_.finish_reason = FinishReason::kCancelled;
  } else if (stops_.stopped()) {
    finished_ = true;
    result_.finish_reason = FinishReason::kStop;
  }
}

// What decoder and matcher hold back is certain now; a stop text may still be found in it.
void GenerationSequence::end(FinishReason reason) {
  emit_text(decoder_.finish());
  if (finished_) return;
  finished_ = true;
  result_.finish_reason = reason;
  const std::string rest = stops_.finish();
  result_.text += rest;
  if (!rest.empty() && request_.on_text) request_.on_text(rest);
}

Generation GenerationSequence::finish() {
  if (result_.error) return std::move(result_);
  result_.timings.output_tokens = result_.ids.size();
  const Clock::time_point end = Clock::now();
  if (result_.ids.empty()) first_token_ = end;  // cancelled within the prompt
  result_.timings.prompt_ms = milliseconds(first_token_ - start_);
  result_.timings.output_ms = milliseconds(end - first_token_);
  return std::move(result_);
}

void run_generation(const LanguageModel& model, std::span<GenerationSequence* const> sequences) {
  std::vector<float> logits;
  while (true) {
    for (GenerationSequence* sequence : sequences) sequence->end_if_cancelled();
    // Sequences that decode go first: their tokens are few and somebody waits for them.
    std::vector<GenerationSequence*> active;
    for (const bool decoding : {true, false}) {
      for (GenerationSequence* sequence : sequences) {
        if (!sequence->finished() && sequence->decoding() == decoding) active.push_back(sequence);
      }
    }
    if (active.empty()) return;
    std::vector<LanguageModel::Input> inputs;
    std::size_t room = kPassTokens;
    for (GenerationSequence* sequence : active) {
      if (room == 0 && !sequence->decoding()) break;
      inputs.push_back(sequence->next_input(sequence->decoding() ? kPassTokens : room));
      room -= std::min(room, inputs.back().ids.size());
    }
    const std::string_view other_device = model.forward(inputs, logits);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto count = static_cast<std::size_t>(inputs[i].num_logits * model.vocab_size());
      active[i]->take(std::span(logits).subspan(offset, count), other_device);
      offset += count;
    }
  }
}

}  // namespace lattice
