#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lattice/chat.h"
#include "lattice/embedding_cache.h"
#include "lattice/error.h"
#include "lattice/generation.h"
#include "lattice/scoring.h"
#include "lattice/tokenizer.h"

namespace lattice {

/// How to load a model.
struct ModelOptions {
  /// "auto", "cpu", "reference" or, in builds for macOS, "metal". A device named here that is not
  /// available, or fails later, is an error; "auto" falls back to the CPU, in the middle of a call
  /// too, warns, and reports it (ModelInfo::device_reason, TextReport::other_device).
  std::string device = "auto";
  /// Arithmetic of the linear layers: "f32", "bf16" (weights and activations rounded to bfloat16,
  /// sums in f32), "q8_0" (both in blocks of 32 bytes with a scale; the token table too; weights
  /// that are stored otherwise are quantized when loaded) or "auto": q8_0 for a directory that
  /// `lattice quantize` wrote, else f32.
  std::string dtype = "auto";
  /// Threads for one call; 0 = the cores this process may use.
  std::size_t num_threads = 0;
};

/// Overrides of the pooling that the model's own files ask for.
enum class Pooling { kCls, kMean, kMax, kLast };

/// How to embed. The defaults do what the model's own files say.
struct EmbedOptions {
  /// The name of a prompt in config_sentence_transformers.json, for example "query".
  std::optional<std::string> prompt_name = std::nullopt;
  /// A prompt given as text; excludes prompt_name. "" suppresses a default prompt.
  std::optional<std::string> prompt = std::nullopt;
  /// Keep only the first n values (Matryoshka); cut before normalization.
  std::optional<std::int64_t> dimensions = std::nullopt;
  std::optional<Pooling> pooling = std::nullopt;
  /// true: L2-normalize; false: do not; absent: as the model's files say.
  std::optional<bool> normalize = std::nullopt;
  Truncate truncate = Truncate::kError;
  /// A limit below the model's own, in tokens with special tokens.
  std::optional<std::size_t> max_length = std::nullopt;
  /// The most tokens computed at once; memory grows with it, results do not depend on it.
  std::size_t batch_tokens = 2048;
  /// Record a text's error in its row instead of throwing; the other texts are embedded.
  bool skip_errors = false;
  /// Vectors of earlier calls are taken from here, and new ones kept; nullptr: none.
  std::shared_ptr<EmbeddingCache> cache = nullptr;
};

/// One vector per text, in input order.
class Embeddings {
 public:
  Embeddings() = default;
  Embeddings(std::size_t num_texts, std::size_t dimensions)
      : dimensions_(dimensions), values_(num_texts * dimensions), reports_(num_texts) {}

  std::size_t size() const { return reports_.size(); }
  std::size_t dimensions() const { return dimensions_; }
  std::span<const float> operator[](std::size_t i) const {
    return {values_.data() + i * dimensions_, dimensions_};
  }
  std::span<float> mutable_row(std::size_t i) {
    return {values_.data() + i * dimensions_, dimensions_};
  }
  /// All values, row-major [size(), dimensions()].
  std::span<const float> values() const { return values_; }
  const TextReport& report(std::size_t i) const { return reports_[i]; }
  std::span<TextReport> mutable_reports() { return reports_; }

 private:
  std::size_t dimensions_ = 0;
  std::vector<float> values_;
  std::vector<TextReport> reports_;
};

/// A setting together with the file and key, or the rule, that it came from.
template <typename T>
struct Sourced {
  T value{};
  std::string source;
};

/// What a loaded model is, as `lattice info` shows it.
struct ModelInfo {
  std::string directory;
  std::string family;
  std::string architecture;
  std::int64_t num_parameters = 0;
  /// Of the weights in the file: "F32"; "Q8_0" for a quantized directory, whose small tensors are
  /// stored otherwise; "mixed" if several.
  std::string stored_dtype;
  std::string compute_dtype;  ///< "f32", "bf16" or "q8_0"
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  // Of an embedding model; dimensions.value is 0 for a directory that is only a cross-encoder:
  Sourced<std::int64_t> dimensions;
  Sourced<std::string> pooling;
  Sourced<bool> normalize;
  Sourced<std::int64_t> max_length;  ///< in tokens, special tokens included
  Sourced<std::string> similarity;   ///< the score the model's files recommend, "cosine"
  // Of a cross-encoder; empty without a head:
  std::vector<std::string> labels;
  Sourced<std::string> rerank_function;    ///< from logits to scores: "sigmoid", "identity", ...
  Sourced<std::string> classify_function;  ///< "softmax", ...
  std::vector<std::pair<std::string, std::string>> prompts;
  std::optional<std::string> default_prompt_name;
  // Of a language model; absent for one that generates no text:
  std::optional<Sourced<std::int64_t>> max_context;  ///< tokens of prompt and output
  std::optional<Sourced<std::vector<std::int32_t>>> stop_token_ids;
  // Of inference_config.json, where it says so:
  std::optional<Sourced<std::int64_t>> eos_token_id;
  /// Positions of the first rotary table; absent for models without one.
  std::optional<Sourced<std::int64_t>> rope_table_max_seq_len;
  std::optional<Sourced<std::int64_t>> gpu_max_seq_len;
  std::string device;         ///< the backend chosen; results say what computed them
  std::string device_target;  ///< its instruction set or device
  std::string device_reason;  ///< why this device
  std::size_t num_threads = 1;
};

/// A model loaded from a Hugging Face directory: tokenizer, weights and pipeline.
///
/// Immutable and safe to use from many threads at once; copies share everything. Calls from
/// different threads run side by side.
class Model {
 public:
  /// Loads config.json, the tokenizer, modules.json and the weights (model.safetensors or its
  /// sharded index) below `directory`. Weights are mapped and converted on first use. Throws
  /// LatticeError: kNotFound, kMalformed, kUnsupported (naming file and field), kUnavailable
  /// (device), kIo.
  static Model from_directory(const std::filesystem::path& directory,
                              const ModelOptions& options = {});

  /// Embeds texts (UTF-8). The bits of a vector depend on its text and the options alone: not on
  /// the other texts, their order or the number of threads. Throws LatticeError: kInvalidArgument
  /// (naming the text's index, or the option), kTooLong, kUnsupported.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options = {}) const;

  /// Embeds token id sequences as given: no special tokens, prompt or truncation are added. Throws
  /// like embed(); kInvalidArgument for an empty sequence or an id outside the vocabulary.
  Embeddings embed_ids(std::span<const std::vector<std::int32_t>> ids,
                       const EmbedOptions& options = {}) const;

  /// Scores each document's relevance to `query` with a cross-encoder; best first, ties by index.
  /// Throws LatticeError: kUnsupported for a model without a head, or with more than one label;
  /// kInvalidArgument and kTooLong naming the document's index, or the option.
  std::vector<RankedDocument> rerank(const std::string& query,
                                     std::span<const std::string> documents,
                                     const RerankOptions& options = {}) const;

  /// Scores every label of a sequence classifier for each text, or pair of texts. Throws like
  /// rerank(), naming the text's index.
  Classifications classify(std::span<const TextPair> texts,
                           const ClassifyOptions& options = {}) const;

  /// Continues a raw prompt (no chat template; the tokenizer's special tokens are added, and those
  /// in the text are special tokens). Throws LatticeError: kUnsupported for a model that does not
  /// generate; kInvalidArgument naming the option; kTooLong.
  Generation generate(const std::string& prompt, const GenerateOptions& options = {},
                      const OnText& on_text = {}) const;

  /// Continues token ids as given. Throws like generate().
  Generation generate_ids(std::span<const std::int32_t> prompt_ids,
                          const GenerateOptions& options = {}, const OnText& on_text = {}) const;

  /// Continues several prompts together, which is faster than one after the other; each text is the
  /// one that generate() gives. Throws like generate(), naming the prompt's index.
  std::vector<Generation> generate_batch(std::span<const std::string> prompts,
                                         const GenerateOptions& options = {}) const;

  /// How well the model predicts `text`. Throws like generate().
  Perplexity perplexity(const std::string& text, const PerplexityOptions& options = {}) const;

  /// A conversation with the model's own chat template. Throws LatticeError(kUnsupported) for a
  /// model that does not generate or has no template, kMalformed for a broken one.
  ChatSession chat() const;

  /// How the model's own files say that it samples: generation_config.json. Throws like generate().
  SamplingOptions default_sampling() const;

  /// The length of the vectors that embed() gives with `options`, which it checks. Throws
  /// LatticeError(kInvalidArgument) naming the wrong option.
  std::size_t dimensions(const EmbedOptions& options = {}) const;

  const Tokenizer& tokenizer() const;
  const ModelInfo& info() const;

  /// The engine's own view of this model, for lattice's programs and tests.
  class Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// A Model that is a Qwen3 decoder (Qwen3-Embedding): the same object, its family checked.
class QwenModel : public Model {
 public:
  /// Model::from_directory, which gives the same vectors; throws LatticeError(kUnsupported) as well
  /// for a directory of another family.
  static QwenModel from_directory(const std::filesystem::path& directory,
                                  const ModelOptions& options = {});

 private:
  explicit QwenModel(Model model) : Model(std::move(model)) {}
};

}  // namespace lattice
