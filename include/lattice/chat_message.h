#pragma once

#include <optional>
#include <string>

namespace lattice {

/// One message of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant", or another one that the template knows
  std::string content;
  /// What a thinking model thought before it answered; templates may leave it out of the prompt.
  std::optional<std::string> reasoning_content = std::nullopt;
};

}  // namespace lattice
