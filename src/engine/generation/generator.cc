#include "engine/generation/generator.h"

#include <algorithm>

#include "engine/generation/perplexity.h"
#include "engine/tokenized_text.h"

namespace lattice {

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "?";
}

namespace {

std::size_t context_limit(const GenerateOptions& options, std::int64_t max_positions) {
  const auto most = static_cast<std::size_t>(max_positions);
  if (!options.max_context) return most;
  if (*options.max_context < 2 || *options.max_context > most) {
    raise(ErrorCode::kInvalidArgument,
          "max_context: expected 2..{} (max_position_embeddings), got {}", most,
          *options.max_context);
  }
  return *options.max_context;
}

// The limit that nobody asked for keeps a model that never stops from filling its context.
std::size_t max_tokens(const GenerateOptions& options, const GenerationConfig& config) {
  constexpr std::size_t kDefault = 512;
  if (options.max_tokens) return *options.max_tokens;
  return config.max_new_tokens ? static_cast<std::size_t>(config.max_new_tokens->value) : kDefault;
}

std::vector<std::string> stop_strings(const GenerateOptions& options,
                                      const GenerationConfig& config) {
  if (options.stop) return *options.stop;
  return config.stop_strings ? config.stop_strings->value : std::vector<std::string>();
}

void check_stop_ids(std::span<const std::int32_t> ids, std::int64_t vocab_size) {
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= vocab_size) {
      raise(ErrorCode::kInvalidArgument, "stop_token_ids: {} is outside the vocabulary of {}", id,
            vocab_size);
    }
  }
}

}  // namespace

void Generator::check_options(const GenerateOptions& options) const {
  const std::int64_t vocab_size = model().vocab_size();
  validate(options.sampling, static_cast<std::size_t>(vocab_size));
  if (max_tokens(options, parts_.config) == 0) {
    raise(ErrorCode::kInvalidArgument, "max_tokens: expected at least 1, got 0");
  }
  context_limit(options, parts_.max_context);
  if (options.stop_token_ids) check_stop_ids(*options.stop_token_ids, vocab_size);
  StopMatcher(stop_strings(options, parts_.config));
  if (options.speculation == Speculation::kMtp && !model().has_draft_head()) {
    raise(ErrorCode::kUnsupported,
          "speculation: mtp: the model's files hold no multi-token prediction head (mtp.*)");
  }
}

GenerationRequest Generator::request(std::vector<std::int32_t> prompt_ids,
                                     const GenerateOptions& options, OnText on_text) const {
  check_options(options);
  if (prompt_ids.empty()) {
    raise(ErrorCode::kInvalidArgument, "prompt: expected at least one token");
  }
  check_token_ids(prompt_ids, model().model().body->traits(), ErrorCode::kInvalidArgument);
  const std::size_t context = context_limit(options, parts_.max_context);
  if (prompt_ids.size() >= context) {
    raise(ErrorCode::kTooLong, "prompt: {} tokens leave no room in a context of {} ({})",
          prompt_ids.size(), context,
          options.max_context ? "max_context" : "max_position_embeddings");
  }
  GenerationRequest request;
  request.max_tokens = std::min(max_tokens(options, parts_.config), context - prompt_ids.size());
  request.prompt_ids = std::move(prompt_ids);
  request.options = options;
  request.stop_token_ids = options.stop_token_ids.value_or(parts_.config.eos_token_ids.value);
  request.stop_strings = stop_strings(options, parts_.config);
  request.on_text = std::move(on_text);
  return request;
}

Generation Generator::run(SequenceState& state, GenerationRequest request) const {
  request.options.skip_errors = false;  // of several prompts
  state.rewind_to(request.prompt_ids, model().make_state());
  GenerationSequence sequence(model(), state, std::move(request));
  GenerationSequence* const sequences[] = {&sequence};
  run_generation(model(), sequences);
  return sequence.finish();
}

std::vector<Generation> Generator::run_all(std::span<const std::string> prompts,
                                           const GenerateOptions& options) const {
  struct Row {
    std::unique_ptr<SequenceState> state;
    std::unique_ptr<GenerationSequence> sequence;  // nullptr: refused
  };
  check_options(options);
  std::vector<Row> rows(prompts.size());
  std::vector<Generation> results(prompts.size());
  std::vector<GenerationSequence*> running;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    try {
      GenerationRequest request = this->request(encode(prompts[i]), options, {});
      rows[i].state = std::make_unique<SequenceState>(model().make_state());
      rows[i].sequence =
          std::make_unique<GenerationSequence>(model(), *rows[i].state, std::move(request));
      running.push_back(rows[i].sequence.get());
    } catch (const LatticeError& error) {
      if (!options.skip_errors) raise(error.code(), "prompt {}: {}", i, error.what());
      results[i].error = error.error();
    }
  }
  run_generation(model(), running);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].sequence) results[i] = rows[i].sequence->finish();
  }
  return results;
}

std::vector<std::int32_t> Generator::encode(const std::string& prompt) const {
  return model().tokenizer().encode(prompt).ids;
}

Perplexity Generator::perplexity(const std::string& text, const PerplexityOptions& options) const {
  constexpr std::size_t kWindow = 2048;
  const auto most = static_cast<std::size_t>(parts_.max_context);
  const std::size_t window = options.window.value_or(std::min(kWindow, most));
  if (window < 2 || window > most) {
    raise(ErrorCode::kInvalidArgument, "window: expected 2..{} (max_position_embeddings), got {}",
          most, window);
  }
  const std::size_t stride = options.stride.value_or(window / 2);
  if (stride < 1 || stride >= window) {
    raise(ErrorCode::kInvalidArgument, "stride: expected 1..{} (below the window), got {}",
          window - 1, stride);
  }
  const std::vector<std::int32_t> ids = encode(text);
  if (ids.size() < 2) {
    raise(ErrorCode::kInvalidArgument, "text: expected at least two tokens, got {}", ids.size());
  }
  check_token_ids(ids, model().model().body->traits(), ErrorCode::kMalformed);
  return measure_perplexity(model(), ids, window, stride);
}

}  // namespace lattice
