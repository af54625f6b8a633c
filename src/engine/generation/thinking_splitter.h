#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lattice {

/// How a rendered prompt leaves the thinking of a chat model.
enum class ThinkingStart {
  kOpened,  ///< the prompt ends with <think>: the answer begins inside the thought
  kClosed,  ///< the prompt ends with </think>, thinking is off: all of the answer is content
  kUnset,   ///< neither: a model that thinks writes <think> first
};

/// What the end of `prompt` says; white space behind the tag does not count. Thread-safe.
ThinkingStart find_thinking_start(std::string_view prompt);

/// A part of an answer.
struct AnswerPiece {
  enum class Kind { kReasoning, kContent };
  Kind kind = Kind::kContent;
  std::string text;

  bool operator==(const AnswerPiece&) const = default;
};

/// Splits the answer of a chat model, which comes in pieces, into its thought and its content.
///
/// An answer is a thought, </think>, and content. A <think> at the very beginning (line feeds
/// before it do not count) is left out, and makes a thought of what follows unless thinking is off.
/// Left out are also the first </think> of a thought and the line feeds at the thought's beginning,
/// on both sides of </think> and around that first <think>. Every other tag is text. A thought that
/// is cut off stays a thought. With kClosed the answer is content, unchanged. Source: the chat
/// templates of Qwen3 and Qwen3.5, which write "<think>\n...\n</think>\n\n...".
///
/// Text comes out as soon as it cannot belong to a tag or its line feeds, whatever the pieces.
/// Not thread-safe: one splitter per answer.
class ThinkingSplitter {
 public:
  explicit ThinkingSplitter(ThinkingStart start);

  /// Takes the next piece of text. Returns at most one piece of each kind, none of them empty.
  std::vector<AnswerPiece> push(std::string_view piece);

  /// Returns what was held back; the answer ends here.
  std::vector<AnswerPiece> finish();

  /// Whether the answer so far ends inside a thought.
  bool is_thinking() const;

 private:
  enum class State { kStart, kThoughtStart, kThought, kThoughtEnd, kContent };
  struct Texts {
    std::string reasoning, content;
    std::vector<AnswerPiece> pieces() &&;
  };

  void take(char c, Texts& out);
  void take_start(char c, Texts& out);
  void take_thought(char c, Texts& out);
  bool extends_tag(char c, std::string_view tag);
  std::string release_held(std::string_view tag);

  ThinkingStart start_;
  State state_;
  // Held back: line feeds, then this many bytes of the tag that the state waits for.
  std::size_t num_line_feeds_ = 0;
  std::size_t num_tag_bytes_ = 0;
};

}  // namespace lattice
