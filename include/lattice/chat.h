#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lattice/chat_message.h"
#include "lattice/generation.h"

namespace lattice {

/// How to answer.
struct ChatOptions {
  GenerateOptions generate;
  /// The template's enable_thinking; absent: the template decides.
  std::optional<bool> enable_thinking = std::nullopt;
};

/// Which part of an answer a piece of text belongs to.
enum class ChatChannel { kReasoning, kContent };

/// Gets an answer piece by piece. False ends it.
using OnChatText = std::function<bool(ChatChannel channel, std::string_view piece)>;

/// An answer, its thoughts apart. A thought that was cut off stays a thought.
struct ChatAnswer {
  std::string reasoning;
  std::string content;
  Generation generation;
};

class LanguageModel;
class Model;

/// A conversation whose earlier turns need not be computed again. Not thread-safe; sessions of one
/// model are independent of each other.
class ChatSession {
 public:
  ChatSession(ChatSession&&) noexcept;
  ChatSession& operator=(ChatSession&&) noexcept;
  ~ChatSession();

  /// Answers `messages`, the whole conversation so far, which may have been edited anywhere: what
  /// its prompt shares with that of the last call is taken from there, and the answer has the bits
  /// of one computed from the start. Throws LatticeError: kInvalidArgument (naming the option, or
  /// what the template refuses), kTooLong, kUnsupported for a model without a chat template. After
  /// an error the session is as before.
  ChatAnswer answer(const std::vector<ChatMessage>& messages, const ChatOptions& options = {},
                    const OnChatText& on_text = {});

  /// The prompt as the template writes it.
  std::string render(const std::vector<ChatMessage>& messages,
                     const ChatOptions& options = {}) const;

 private:
  friend class Model;
  struct Impl;
  explicit ChatSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lattice
