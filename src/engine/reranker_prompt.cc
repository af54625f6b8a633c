#include "engine/reranker_prompt.h"

#include "base/check.h"

namespace lattice {
namespace {

constexpr std::string_view kPrefix =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n";
constexpr std::string_view kSuffix = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
constexpr std::string_view kDefaultInstruction =
    "Given a web search query, retrieve relevant passages that answer the query";

std::string body_text(std::string_view instruction, const TextPair& text) {
  return fmt::format("<Instruct>: {}\n<Query>: {}\n<Document>: {}", instruction, text.text,
                     text.pair.value_or(""));
}

}  // namespace

RerankerPrompt::RerankerPrompt(const LoadedModel& model, std::string default_instruction)
    : model_(model),
      default_instruction_(default_instruction.empty() ? std::string(kDefaultInstruction)
                                                       : std::move(default_instruction)),
      prefix_(encode_part(kPrefix)),
      suffix_(encode_part(kSuffix)) {}

std::vector<std::int32_t> RerankerPrompt::encode_part(std::string_view text) const {
  EncodeOptions options;
  options.add_special_tokens = false;
  return model_.tokenizer.encode(text, options).ids;
}

std::size_t RerankerPrompt::num_added_tokens() const {
  return prefix_.size() + suffix_.size() + encode_part(body_text(default_instruction_, {})).size();
}

TokenizedText RerankerPrompt::encode(const TextPair& text, const PairRequest& request) const {
  const std::size_t fixed = prefix_.size() + suffix_.size();
  if (request.max_length <= fixed) {
    raise(ErrorCode::kTooLong, "the reranking prompt alone has {} tokens, the limit is {} ({})",
          fixed, request.max_length, request.max_length_source);
  }
  EncodeOptions options = encode_options(request.max_length - fixed, request.truncate);
  options.add_special_tokens = false;
  const std::string& instruction =
      request.instruction ? *request.instruction : default_instruction_;
  const Encoding body = model_.tokenizer.encode(body_text(instruction, text), options);
  if (body.truncated && request.truncate == Truncate::kError) {
    raise_too_long(body.num_tokens_untruncated + fixed, request.max_length,
                   request.max_length_source);
  }
  TokenizedText out{.ids = prefix_, .type_ids = {}, .truncated = body.truncated};
  out.ids.insert(out.ids.end(), body.ids.begin(), body.ids.end());
  out.ids.insert(out.ids.end(), suffix_.begin(), suffix_.end());
  check_token_ids(out.ids, model_.body->traits(), ErrorCode::kMalformed);
  out.type_ids.assign(out.ids.size(), 0);
  return out;
}

}  // namespace lattice
