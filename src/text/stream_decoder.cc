#include "text/stream_decoder.h"

#include <utility>

#include "base/check.h"
#include "text/tokenizer_impl.h"

namespace lattice {
namespace {

// Joins the tokens to a text.
class TextSink final : public TokenSink {
 public:
  TextSink(std::string& text, std::string_view separator) : text_(text), separator_(separator) {}

  void put(std::string_view part, bool ends_token) override {
    if (between_tokens_) text_ += separator_;
    text_ += part;
    between_tokens_ = ends_token;
  }
  void finish() override {}

 private:
  std::string& text_;
  std::string_view separator_;
  bool between_tokens_ = false;
};

std::unique_ptr<TokenSink> make_sink(const TokenDecoder* decoder, std::string& text) {
  if (decoder == nullptr) return std::make_unique<TextSink>(text, " ");
  return decoder->stream(std::make_unique<TextSink>(text, ""));
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens)
    : tokenizer_(tokenizer.impl_),
      skip_special_tokens_(skip_special_tokens),
      text_(std::make_unique<std::string>()),
      sink_(make_sink(tokenizer_->decoder.get(), *text_)) {}

std::string StreamDecoder::push(std::int32_t id) {
  check(sink_ != nullptr, "[tokenizer] a text was continued after its end");
  const auto token = tokenizer_->id_to_token(id);
  if (!token) raise(ErrorCode::kInvalidArgument, "[tokenizer] there is no token {}", id);
  if (!skip_special_tokens_ || !tokenizer_->added_tokens.is_special(id)) sink_->put(*token, true);
  return std::exchange(*text_, {});
}

std::string StreamDecoder::finish() {
  check(sink_ != nullptr, "[tokenizer] a text was ended twice");
  sink_->finish();
  sink_ = nullptr;
  return std::exchange(*text_, {});
}

}  // namespace lattice
