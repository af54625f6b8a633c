#pragma once

#include <memory>

#include "engine/generation/generator.h"
#include "engine/generation/thinking_splitter.h"
#include "engine/model_impl.h"
#include "lattice/chat.h"
#include "text/chat_template.h"

namespace lattice {

/// Everything behind a ChatSession.
struct ChatSession::Impl {
  /// Throws like Model::chat().
  explicit Impl(std::shared_ptr<const Model::Impl> model_in);

  /// The prompt of `messages` as the template writes it.
  jinja::Rendered rendered(const std::vector<ChatMessage>& messages,
                           const ChatOptions& options) const;

  std::shared_ptr<const Model::Impl> model;
  ChatTemplate chat_template;
  SequenceState state;
};

/// The ids of a rendered prompt: as a whole, with the added tokens that the template wrote, but
/// without looking for any in what users wrote. Throws like Tokenizer::encode().
std::vector<std::int32_t> encode_chat(const Tokenizer& tokenizer, const jinja::Rendered& prompt);

}  // namespace lattice
