#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/budget.h"

namespace lattice::jinja {

/// The bytes [begin, end) of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const Span&) const = default;
};

/// An immutable UTF-8 string that knows which of its bytes came from user input. Copies share the
/// bytes. Comparing ignores where the bytes came from.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view bytes, bool user_input = false);
  /// `user_spans` must be sorted, disjoint, not touching and not empty.
  Text(std::string bytes, std::vector<Span> user_spans);

  std::string_view bytes() const { return data_ ? std::string_view(data_->bytes) : ""; }
  std::size_t size() const { return data_ ? data_->bytes.size() : 0; }
  bool empty() const { return size() == 0; }
  /// Code points.
  std::size_t length() const { return data_ ? data_->length : 0; }
  bool is_ascii() const { return length() == size(); }

  std::span<const Span> user_spans() const {
    return data_ ? std::span<const Span>(data_->user_spans) : std::span<const Span>();
  }

  /// The byte at which code point `index` starts, index <= length(). Near constant time.
  std::size_t byte_of(std::size_t index) const;
  /// The number of code points before `byte`, which must start one. Near constant time.
  std::size_t index_of(std::size_t byte) const;

  /// The bytes [begin, end), cut between code points.
  Text slice_bytes(std::size_t begin, std::size_t end) const;

  bool operator==(const Text& other) const { return bytes() == other.bytes(); }

 private:
  struct Data {
    std::string bytes;
    std::vector<Span> user_spans;
    std::size_t length = 0;
    std::vector<std::uint32_t> marks;  // bytes of code points 64, 128, ...; empty if ASCII
  };

  static std::shared_ptr<const Data> make_data(std::string bytes, std::vector<Span> user_spans);

  std::shared_ptr<const Data> data_;
};

/// Answers for rising byte offsets of one text whether they are user input; constant time on
/// average. The text must outlive it.
class UserCursor {
 public:
  explicit UserCursor(const Text& text) : spans_(text.user_spans()) {}

  bool operator()(std::size_t byte) {
    while (next_ < spans_.size() && spans_[next_].end <= byte) ++next_;
    return next_ < spans_.size() && spans_[next_].begin <= byte;
  }

 private:
  std::span<const Span> spans_;
  std::size_t next_ = 0;
};

/// Collects a Text piece by piece, within a budget.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(&budget) {}

  void append(const Text& text) { append(text, 0, text.size()); }
  /// The bytes [begin, end) of `text`.
  void append(const Text& text, std::size_t begin, std::size_t end);
  void append(std::string_view bytes, bool user_input = false);
  void append_code_point(char32_t c, bool user_input);
  /// `count` copies of `fill`.
  void pad(std::size_t count, const Text& fill);
  void pad(std::size_t count, char fill = ' ');

  std::size_t size() const { return bytes_.size(); }
  Budget& budget() { return *budget_; }

  Text take();

 private:
  void mark(std::size_t begin, std::size_t end);

  Budget* budget_;
  std::string bytes_;
  std::vector<Span> user_spans_;
};

}  // namespace lattice::jinja
