#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lattice/chat_message.h"
#include "lattice/tokenizer.h"
#include "text/jinja/template.h"

namespace lattice {

/// What else a template is told.
struct ChatTemplateOptions {
  /// Write the beginning of the next answer.
  bool add_generation_prompt = false;
  /// The variable enable_thinking; absent: undefined.
  std::optional<bool> enable_thinking = std::nullopt;
};

/// A model's own chat template. Immutable, thread-safe.
class ChatTemplate {
 public:
  /// Reads chat_template.jinja, else chat_template.json, else the chat_template of
  /// tokenizer_config.json (of several named ones, "default"); nothing when there is none. The
  /// names of `tokenizer`'s special tokens become variables. Throws LatticeError as
  /// jinja::Template::parse does, and kMalformed for a file that is not as expected.
  static std::optional<ChatTemplate> from_directory(const std::filesystem::path& directory,
                                                    const Tokenizer& tokenizer);

  /// The prompt for `messages`; the contents are marked as user input. Throws as
  /// jinja::Template::render does.
  jinja::Rendered render(const std::vector<ChatMessage>& messages,
                         const ChatTemplateOptions& options = {}) const;

 private:
  ChatTemplate(jinja::Template source, std::vector<std::pair<std::string, std::string>> variables)
      : template_(std::move(source)), variables_(std::move(variables)) {}

  jinja::Template template_;
  std::vector<std::pair<std::string, std::string>> variables_;
};

}  // namespace lattice
