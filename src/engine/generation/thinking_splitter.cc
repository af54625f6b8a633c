#include "engine/generation/thinking_splitter.h"

#include <utility>

namespace lattice {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

}  // namespace

ThinkingStart find_thinking_start(std::string_view prompt) {
  const std::size_t last = prompt.find_last_not_of(" \t\r\n");
  prompt = prompt.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (prompt.ends_with(kClose)) return ThinkingStart::kClosed;
  return prompt.ends_with(kOpen) ? ThinkingStart::kOpened : ThinkingStart::kUnset;
}

ThinkingSplitter::ThinkingSplitter(ThinkingStart start)
    : start_(start), state_(start == ThinkingStart::kClosed ? State::kContent : State::kStart) {}

std::vector<AnswerPiece> ThinkingSplitter::Texts::pieces() && {
  std::vector<AnswerPiece> list;
  if (!reasoning.empty()) list.push_back({AnswerPiece::Kind::kReasoning, std::move(reasoning)});
  if (!content.empty()) list.push_back({AnswerPiece::Kind::kContent, std::move(content)});
  return list;
}

std::vector<AnswerPiece> ThinkingSplitter::push(std::string_view piece) {
  Texts out;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (state_ == State::kContent) {
      out.content += piece.substr(i);
      break;
    }
    take(piece[i], out);
  }
  return std::move(out).pieces();
}

std::vector<AnswerPiece> ThinkingSplitter::finish() {
  Texts out;
  if (state_ == State::kStart && start_ == ThinkingStart::kUnset) {
    out.content = release_held(kOpen);
  } else if (state_ == State::kStart) {
    num_line_feeds_ = 0;
    out.reasoning = release_held(kOpen);
  } else if (state_ == State::kThought) {
    out.reasoning = release_held(kClose);
  }
  return std::move(out).pieces();
}

bool ThinkingSplitter::is_thinking() const {
  if (state_ == State::kStart) return start_ == ThinkingStart::kOpened;
  return state_ == State::kThoughtStart || state_ == State::kThought;
}

void ThinkingSplitter::take(char c, Texts& out) {
  switch (state_) {
    case State::kStart:
      return take_start(c, out);
    case State::kThoughtStart:
      if (c == '\n') return;
      state_ = State::kThought;
      return take_thought(c, out);
    case State::kThought:
      return take_thought(c, out);
    case State::kThoughtEnd:
      if (c == '\n') return;
      state_ = State::kContent;
      out.content += c;
      return;
    case State::kContent:
      out.content += c;
      return;
  }
}

// Whether `c` goes on with line feeds and then a tag.
bool ThinkingSplitter::extends_tag(char c, std::string_view tag) {
  if (c == tag[num_tag_bytes_]) {
    ++num_tag_bytes_;
    return true;
  }
  if (c != '\n' || num_tag_bytes_ > 0) return false;
  ++num_line_feeds_;
  return true;
}

std::string ThinkingSplitter::release_held(std::string_view tag) {
  std::string text(std::exchange(num_line_feeds_, 0), '\n');
  return text += tag.substr(0, std::exchange(num_tag_bytes_, 0));
}

void ThinkingSplitter::take_start(char c, Texts& out) {
  if (extends_tag(c, kOpen)) {
    if (num_tag_bytes_ < kOpen.size()) return;
    release_held(kOpen);
    state_ = State::kThoughtStart;
  } else if (start_ == ThinkingStart::kUnset) {
    state_ = State::kContent;
    out.content += release_held(kOpen) + c;
  } else {
    state_ = State::kThought;
    num_line_feeds_ = 0;
    for (const char held : release_held(kOpen)) take_thought(held, out);
    take_thought(c, out);
  }
}

void ThinkingSplitter::take_thought(char c, Texts& out) {
  if (!extends_tag(c, kClose)) {
    out.reasoning += release_held(kClose);
    if (!extends_tag(c, kClose)) out.reasoning += c;
  } else if (num_tag_bytes_ == kClose.size()) {
    release_held(kClose);
    state_ = State::kThoughtEnd;
  }
}

}  // namespace lattice
