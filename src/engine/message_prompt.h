#pragma once

#include "engine/pair_encoder.h"
#include "text/chat_template.h"

namespace lattice {

/// Pairs as messages of the model's chat template: the roles query and document, before them the
/// instruction as system message. The rendered text is tokenized as a whole. When it is too long,
/// what the template writes behind the document is kept. Source: sentence-transformers, Transformer
/// module with the message modality.
class MessagePrompt final : public PairEncoder {
 public:
  /// The encoder, or nullptr when the template does not write both roles.
  static std::unique_ptr<MessagePrompt> make(const LoadedModel& model, ChatTemplate chat_template,
                                             std::string default_instruction);

  TokenizedText encode(const TextPair& text, const PairRequest& request) const override;
  std::size_t num_added_tokens() const override;

 private:
  MessagePrompt(const LoadedModel& model, ChatTemplate chat_template,
                std::string default_instruction)
      : model_(model),
        template_(std::move(chat_template)),
        default_instruction_(std::move(default_instruction)) {}

  std::string render(const TextPair& text, const PairRequest& request) const;
  std::vector<std::int32_t> tokenize(const std::string& text) const;
  std::vector<std::int32_t> common_suffix(const PairRequest& request, bool pair) const;

  const LoadedModel& model_;
  ChatTemplate template_;
  std::string default_instruction_;
};

}  // namespace lattice
