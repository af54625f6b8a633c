#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/generation/generation_config.h"
#include "engine/generation/generation_sequence.h"

namespace lattice {

/// Prompts in, texts out. Immutable, thread-safe.
class Generator {
 public:
  /// What a language model's directory adds to a model.
  struct Parts {
    std::unique_ptr<const LanguageModel> model;
    GenerationConfig config;
    std::int64_t max_context = 0;     ///< max_position_embeddings
    std::filesystem::path directory;  ///< of the chat template
  };
  explicit Generator(Parts parts) : parts_(std::move(parts)) {}

  const LanguageModel& model() const { return *parts_.model; }
  const GenerationConfig& config() const { return parts_.config; }
  const std::filesystem::path& directory() const { return parts_.directory; }

  /// Throws LatticeError(kInvalidArgument) naming the option that no prompt could have.
  void check_options(const GenerateOptions& options) const;

  /// `options` for a prompt of these tokens. Throws LatticeError: kInvalidArgument (naming the
  /// option, or an id outside the vocabulary), kTooLong.
  GenerationRequest request(std::vector<std::int32_t> prompt_ids, const GenerateOptions& options,
                            OnText on_text) const;

  /// Generates for one prompt, whose state is `state` afterwards.
  Generation run(SequenceState& state, GenerationRequest request) const;

  /// See Model::generate_batch.
  std::vector<Generation> run_all(std::span<const std::string> prompts,
                                  const GenerateOptions& options) const;

  /// The ids of a raw prompt, with the special tokens that the tokenizer adds.
  std::vector<std::int32_t> encode(const std::string& prompt) const;

  /// See Model::perplexity.
  Perplexity perplexity(const std::string& text, const PerplexityOptions& options) const;

 private:
  Parts parts_;
};

}  // namespace lattice
