#include "engine/generation/chat_session.h"

namespace lattice {
namespace {

ChatTemplate load_template(const Generator& generator) {
  auto chat_template =
      ChatTemplate::from_directory(generator.directory(), generator.model().tokenizer());
  if (!chat_template) {
    raise(ErrorCode::kUnsupported,
          "{}: no chat template (chat_template.jinja, chat_template.json or tokenizer_config.json: "
          "chat_template)",
          generator.directory().string());
  }
  return *std::move(chat_template);
}

// What the template itself wrote at the end, behind all user input.
std::string_view written_end(const jinja::Rendered& prompt) {
  const std::size_t begin = prompt.user_spans.empty() ? 0 : prompt.user_spans.back().end;
  return std::string_view(prompt.text).substr(begin);
}

/// Sorts the pieces of an answer into its channels.
class AnswerWriter {
 public:
  AnswerWriter(ThinkingStart start, const OnChatText& on_text, ChatAnswer& answer)
      : splitter_(start), on_text_(on_text), answer_(answer) {}

  bool push(std::string_view piece) { return write(splitter_.push(piece)); }
  void finish() { write(splitter_.finish()); }

 private:
  bool write(const std::vector<AnswerPiece>& pieces) {
    for (const AnswerPiece& piece : pieces) {
      const bool reasoning = piece.kind == AnswerPiece::Kind::kReasoning;
      (reasoning ? answer_.reasoning : answer_.content) += piece.text;
      if (!on_text_ || cancelled_) continue;
      cancelled_ =
          !on_text_(reasoning ? ChatChannel::kReasoning : ChatChannel::kContent, piece.text);
    }
    return !cancelled_;
  }

  ThinkingSplitter splitter_;
  const OnChatText& on_text_;
  ChatAnswer& answer_;
  bool cancelled_ = false;  // by on_text_, which is not called again
};

}  // namespace

std::vector<std::int32_t> encode_chat(const Tokenizer& tokenizer, const jinja::Rendered& prompt) {
  EncodeOptions options;
  options.add_special_tokens = false;
  for (const jinja::Span& span : prompt.user_spans) {
    options.literal_spans.emplace_back(span.begin, span.end);
  }
  return tokenizer.encode(prompt.text, options).ids;
}

ChatSession::Impl::Impl(std::shared_ptr<const Model::Impl> model_in)
    : model(std::move(model_in)),
      chat_template(load_template(model->generator())),
      state(model->generator().model().make_state()) {}

jinja::Rendered ChatSession::Impl::rendered(const std::vector<ChatMessage>& messages,
                                            const ChatOptions& options) const {
  if (messages.empty()) {
    raise(ErrorCode::kInvalidArgument, "messages: expected at least one");
  }
  return chat_template.render(
      messages, {.add_generation_prompt = true, .enable_thinking = options.enable_thinking});
}

ChatSession::ChatSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatSession::ChatSession(ChatSession&&) noexcept = default;
ChatSession& ChatSession::operator=(ChatSession&&) noexcept = default;
ChatSession::~ChatSession() = default;

std::string ChatSession::render(const std::vector<ChatMessage>& messages,
                                const ChatOptions& options) const {
  return impl_->rendered(messages, options).text;
}

ChatAnswer ChatSession::answer(const std::vector<ChatMessage>& messages, const ChatOptions& options,
                               const OnChatText& on_text) {
  const Generator& generator = impl_->model->generator();
  const jinja::Rendered prompt = impl_->rendered(messages, options);
  ChatAnswer answer;
  AnswerWriter writer(find_thinking_start(written_end(prompt)), on_text, answer);
  // Everything is checked before the session's state changes.
  GenerationRequest request =
      generator.request(encode_chat(generator.model().tokenizer(), prompt), options.generate,
                        [&](std::string_view piece) { return writer.push(piece); });
  answer.generation = generator.run(impl_->state, std::move(request));
  writer.finish();
  return answer;
}

}  // namespace lattice
