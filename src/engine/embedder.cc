#include "engine/embedder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "engine/batcher.h"
#include "engine/embedding_cache_session.h"

namespace lattice {

/// The options of one call, checked and resolved against the model's files.
struct Embedder::Request {
  std::string prompt;
  std::size_t prompt_tokens = 0;  ///< tokens to leave out of the pool
  std::vector<PoolingMode> pooling;
  bool normalize = false;
  std::int64_t full_dimension = 0;
  std::int64_t dimensions = 0;
  std::size_t max_length = 0;
  Truncate truncate = Truncate::kError;
};

namespace {

PoolingMode pooling_mode(Pooling pooling) {
  switch (pooling) {
    case Pooling::kCls:
      return PoolingMode::kCls;
    case Pooling::kMean:
      return PoolingMode::kMean;
    case Pooling::kMax:
      return PoolingMode::kMax;
    case Pooling::kLast:
      return PoolingMode::kLastToken;
  }
  return PoolingMode::kMean;
}

/// Whether `id` plays a named role ([SEP], <|endoftext|>, ...).
bool is_named_special(const Tokenizer& tokenizer, std::int32_t id) {
  const SpecialTokenIds& ids = tokenizer.special_token_ids();
  for (const auto& special : {ids.bos, ids.eos, ids.unk, ids.sep, ids.pad, ids.cls, ids.mask}) {
    if (special == id) return true;
  }
  return false;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace

Embedder::Embedder(std::shared_ptr<const LoadedModel> model, SentencePipeline pipeline,
                   SentencePrompts prompts)
    : model_(std::move(model)), pipeline_(std::move(pipeline)), prompts_(std::move(prompts)) {}

// The library's count: the prompt tokenized alone, without a special token that ends it.
std::size_t Embedder::prompt_length(const std::string& prompt) const {
  const Encoding encoding = model_->tokenizer.encode(
      prompt, encode_options(static_cast<std::size_t>(model_->limit.max_tokens), Truncate::kEnd));
  const std::size_t count = encoding.ids.size();
  return count > 0 && is_named_special(model_->tokenizer, encoding.ids.back()) ? count - 1 : count;
}

Embedder::Request Embedder::resolve(const EmbedOptions& options) const {
  Request request;
  if (options.prompt && options.prompt_name) {
    raise(ErrorCode::kInvalidArgument, "prompt and prompt_name exclude each other");
  }
  if (options.prompt) {
    request.prompt = *options.prompt;
  } else if (options.prompt_name) {
    request.prompt = prompts_.find(*options.prompt_name);
  } else if (prompts_.default_prompt_name) {
    request.prompt = prompts_.find(*prompts_.default_prompt_name);
  }
  if (!request.prompt.empty() && !pipeline_.pooling.include_prompt) {
    request.prompt_tokens = prompt_length(request.prompt);
  }
  request.pooling = pipeline_.pooling.modes;
  if (options.pooling) {
    if (!pipeline_.modules.empty()) {
      raise(ErrorCode::kInvalidArgument,
            "pooling: this model's modules after pooling were trained for \"{}\" and allow no "
            "other",
            pooling_name(pipeline_.pooling.modes));
    }
    request.pooling = {pooling_mode(*options.pooling)};
  }
  const std::int64_t hidden_size = model_->body->traits().hidden_size;
  request.full_dimension = options.pooling ? hidden_size : pipeline_.dimension(hidden_size);
  request.dimensions = options.dimensions.value_or(request.full_dimension);
  if (request.dimensions < 1 || request.dimensions > request.full_dimension) {
    raise(ErrorCode::kInvalidArgument, "dimensions: expected 1..{}, got {}", request.full_dimension,
          request.dimensions);
  }
  request.normalize = options.normalize.value_or(pipeline_.normalize);
  request.max_length = static_cast<std::size_t>(model_->limit.max_tokens);
  if (options.max_length) {
    const std::size_t least =
        model_->tokenizer.num_special_tokens(/*pair=*/false) + num_appended() + 1;
    if (*options.max_length < least || *options.max_length > request.max_length) {
      raise(ErrorCode::kInvalidArgument, "max_length: expected {}..{} ({}), got {}", least,
            request.max_length, model_->limit.source, *options.max_length);
    }
    request.max_length = *options.max_length;
  }
  request.truncate = options.truncate;
  return request;
}

// Everything in a Request that changes a vector and is not in its ids already.
EmbeddingIdentity Embedder::identity(const Request& request) const {
  return {fingerprint_->model(),
          fmt::format("{}pooling {}\ndimensions {}\nnormalize {}\nprompt_tokens {}\n",
                      fingerprint_->compute(), pooling_name(request.pooling), request.dimensions,
                      request.normalize, request.prompt_tokens)};
}

TokenizedText Embedder::prepare(const std::string& text, const Request& request) const {
  const std::size_t most = request.max_length - num_appended();
  Encoding encoding =
      model_->tokenizer.encode(request.prompt.empty() ? text : request.prompt + text,
                               encode_options(most, request.truncate));
  if (encoding.truncated && request.truncate == Truncate::kError) {
    raise_too_long(encoding.num_tokens_untruncated + num_appended(), request.max_length,
                   model_->limit.source);
  }
  if (appended_token_) {
    encoding.ids.push_back(*appended_token_);
    encoding.type_ids.push_back(0);
  }
  return to_model_input(*model_, std::move(encoding));
}

TokenizedText Embedder::prepare(const TokenizedText& text, const Request& request) const {
  if (text.ids.empty()) raise(ErrorCode::kInvalidArgument, "expected at least one token id");
  if (text.ids.size() > request.max_length) {
    raise(ErrorCode::kTooLong, "{} token ids, the limit is {} ({})", text.ids.size(),
          request.max_length, model_->limit.source);
  }
  check_token_ids(text.ids, model_->body->traits(), ErrorCode::kInvalidArgument);
  return text;
}

std::size_t Embedder::dimensions(const EmbedOptions& options) const {
  return static_cast<std::size_t>(resolve(options).dimensions);
}

Embeddings Embedder::embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  return embed_inputs(texts, options);
}

Embeddings Embedder::embed_ids(std::span<const std::vector<std::int32_t>> ids,
                               const EmbedOptions& options) const {
  std::vector<TokenizedText> texts(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    texts[i] = {ids[i], std::vector<std::int32_t>(ids[i].size(), 0), false};
  }
  return embed_tokenized(texts, options);
}

Embeddings Embedder::embed_tokenized(std::span<const TokenizedText> texts,
                                     const EmbedOptions& options) const {
  if (options.prompt || options.prompt_name) {
    raise(ErrorCode::kInvalidArgument, "a prompt cannot be added to token ids");
  }
  EmbedOptions plain = options;
  plain.prompt = "";  // a default prompt neither
  return embed_inputs(texts, plain);
}

template <typename Input>
Embeddings Embedder::embed_inputs(std::span<const Input> inputs,
                                  const EmbedOptions& options) const {
  const Request request = resolve(options);
  Embeddings out(inputs.size(), static_cast<std::size_t>(request.dimensions));
  const std::vector<TokenizedText> prepared =
      prepare_texts(model_->contexts->threads(), out.mutable_reports(), options.skip_errors,
                    [&](std::size_t i) { return prepare(inputs[i], request); });
  std::vector<std::size_t> lengths = token_counts(prepared);
  std::optional<EmbeddingCacheSession> cache;
  if (options.cache) cache.emplace(*options.cache, identity(request), prepared);
  if (cache) cache->fetch(lengths, out);
  const auto max_gpu_tokens = static_cast<std::size_t>(model_->contexts->max_gpu_tokens());
  for (const auto& batch :
       make_batches(lengths, std::max<std::size_t>(options.batch_tokens, 1), max_gpu_tokens)) {
    const std::string_view other_device = compute_batch(batch, prepared, request, out);
    for (const std::size_t i : batch) out.mutable_reports()[i].other_device = other_device;
    // The cache's identity names the device that was chosen.
    if (cache && other_device.empty()) cache->store(batch, out);
  }
  if (cache) cache->copy_repeats(out);
  return out;
}

std::string_view Embedder::compute_batch(std::span<const std::size_t> batch,
                                         std::span<const TokenizedText> texts,
                                         const Request& request, Embeddings& out) const {
  const PackedTexts packed(batch, texts);
  const SequenceLayout layout = packed.layout();
  std::vector<std::int32_t> skip;
  if (request.prompt_tokens > 0) {
    for (const std::size_t i : batch) {
      skip.push_back(
          static_cast<std::int32_t>(std::min(request.prompt_tokens, texts[i].ids.size())));
    }
  }

  ContextPool::Lease lease(*model_->contexts, longest(batch, texts));
  Context& context = *lease;
  const Workspace::Scope scratch(context.workspace());
  const MutMatrix hidden =
      context.workspace().matrix(layout.num_tokens(), model_->body->traits().hidden_size);
  model_->body->forward(context, packed.tokens(), hidden);
  const MutMatrix vectors = context.workspace().matrix(layout.num_seqs(), request.full_dimension);
  apply_pipeline(context, hidden, layout, skip, request, vectors);

  for (std::size_t s = 0; s < batch.size(); ++s) {
    const auto row = vectors.row_span(static_cast<std::int64_t>(s))
                         .first(static_cast<std::size_t>(request.dimensions));
    // A NaN is reported, never handed on as a vector.
    check(all_finite(row), "text {}: the model computed a value that is not finite", batch[s]);
    std::copy(row.begin(), row.end(), out.mutable_row(batch[s]).begin());
  }
  return lease.other_device();
}

void Embedder::apply_pipeline(Context& context, ConstMatrix hidden, const SequenceLayout& layout,
                              std::span<const std::int32_t> skip, const Request& request,
                              MutMatrix out) const {
  const MutMatrix vectors = apply_sentence_modules(
      context, pipeline_, {.x = hidden, .layout = layout, .skip = skip, .out = {}},
      request.pooling);
  // Matryoshka: the cut comes before the normalization.
  const MutMatrix cut = vectors.columns(0, request.dimensions);
  if (request.normalize) l2_normalize(context, {.x = cut});
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    std::memcpy(out.row(s), cut.row(s), cut.row_span(s).size_bytes());
  }
}

}  // namespace lattice
