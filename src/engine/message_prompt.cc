#include "engine/message_prompt.h"

#include <algorithm>

#include "base/check.h"

namespace lattice {

std::unique_ptr<MessagePrompt> MessagePrompt::make(const LoadedModel& model,
                                                   ChatTemplate chat_template,
                                                   std::string default_instruction) {
  std::unique_ptr<MessagePrompt> prompt(
      new MessagePrompt(model, std::move(chat_template), std::move(default_instruction)));
  constexpr const char* kQuery = "Query-0f3a";
  constexpr const char* kDocument = "Document-77c1";
  std::string text;
  try {
    text = prompt->render({kQuery, kDocument}, {});
  } catch (const LatticeError&) {
    return nullptr;  // the template refuses the roles
  }
  const bool writes_both =
      text.find(kQuery) != std::string::npos && text.find(kDocument) != std::string::npos;
  return writes_both ? std::move(prompt) : nullptr;
}

std::string MessagePrompt::render(const TextPair& text, const PairRequest& request) const {
  std::vector<ChatMessage> messages;
  const std::string& instruction =
      request.instruction ? *request.instruction : default_instruction_;
  if (request.instruction || !instruction.empty()) messages.push_back({"system", instruction});
  if (text.pair) {
    messages.push_back({"query", text.text});
    messages.push_back({"document", *text.pair});
  } else {
    messages.push_back({"user", text.text});
  }
  return template_.render(messages).text;
}

std::vector<std::int32_t> MessagePrompt::tokenize(const std::string& text) const {
  EncodeOptions options;
  options.add_special_tokens = false;
  return model_.tokenizer.encode(text, options).ids;
}

std::size_t MessagePrompt::num_added_tokens() const {
  return tokenize(render({"", ""}, {})).size();
}

// What two prompts with different texts end with is the template's.
std::vector<std::int32_t> MessagePrompt::common_suffix(const PairRequest& request,
                                                       bool pair) const {
  const auto filled = [&](const std::string& filler) {
    TextPair text{filler};
    if (pair) text.pair = filler;
    return tokenize(render(text, request));
  };
  std::vector<std::int32_t> a = filled("first");
  const std::vector<std::int32_t> b = filled("7");
  const auto differs = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  a.erase(a.begin(), differs.base());
  return a;
}

TokenizedText MessagePrompt::encode(const TextPair& text, const PairRequest& request) const {
  TokenizedText out{.ids = tokenize(render(text, request)), .type_ids = {}, .truncated = false};
  const std::size_t excess = out.ids.size() - std::min(out.ids.size(), request.max_length);
  if (excess > 0) {
    if (request.truncate == Truncate::kError) {
      raise_too_long(out.ids.size(), request.max_length, request.max_length_source);
    }
    out.truncated = true;
    const auto count = static_cast<std::ptrdiff_t>(excess);
    if (request.truncate == Truncate::kStart) {
      out.ids.erase(out.ids.begin(), out.ids.begin() + count);
    } else {
      out.ids.erase(out.ids.end() - count, out.ids.end());
      const std::vector<std::int32_t> suffix = common_suffix(request, text.pair.has_value());
      const std::size_t kept = std::min(suffix.size(), out.ids.size());
      std::copy_n(suffix.rbegin(), kept, out.ids.rbegin());
    }
  }
  if (out.ids.empty()) raise(ErrorCode::kInvalidArgument, "the prompt has no tokens");
  check_token_ids(out.ids, model_.body->traits(), ErrorCode::kMalformed);
  out.type_ids.assign(out.ids.size(), 0);
  return out;
}

}  // namespace lattice
