#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/utf8.h"

namespace lattice {

/// Builds the next state of an AlignedText from left to right. A cursor walks over the current
/// text; every operation consumes characters at the cursor, produces characters, or both, and gives
/// what it produces the origin that Hugging Face's NormalizedString would: a replacing character
/// that of the first byte it replaces, an inserted one that of the byte before the cursor. finish()
/// installs the result. While no operation changes a length, no origins are written.
///
/// Source: `transform_range` and `replace` of tokenizers 0.23 (tokenizer/normalizer.rs).
class TextRewriter {
 public:
  explicit TextRewriter(AlignedText& text);

  TextRewriter(const TextRewriter&) = delete;
  TextRewriter& operator=(const TextRewriter&) = delete;

  /// The text before the rewrite, to iterate over.
  std::string_view source() const { return text_.text; }

  /// Copies the bytes `range` of source(), whole characters, each replacing one at the cursor.
  void copy(ByteRange range) {
    if (range.begin == cursor_ && verbatim_) {
      out_.append(text_.text, range.begin, range.size());
      cursor_ = range.end;
      return;
    }
    copy_slowly(range);
  }

  /// Copies like copy(), then maps every byte; `map` (256 bytes) must map ASCII to ASCII and leave
  /// all other bytes alone.
  void copy_mapped(ByteRange range, const char* map) {
    const std::size_t begin = out_.size();
    copy(range);
    for (std::size_t i = begin; i < out_.size(); ++i) {
      out_[i] = map[static_cast<unsigned char>(out_[i])];
    }
  }

  /// Bytes produced so far.
  std::size_t produced() const { return out_.size(); }

  /// Produces `code_point` in place of one character at the cursor.
  void replace(char32_t code_point) {
    const std::size_t size = utf8_length(code_point);
    if (verbatim_ && cursor_ < text_.text.size() && size == utf8_length(text_.text[cursor_])) {
      append_utf8(out_, code_point);
      cursor_ += size;
      return;
    }
    replace_slowly(code_point);
  }

  /// Produces `code_point` and consumes nothing.
  void insert(char32_t code_point);

  /// One step of the library's change lists: inserts when `change` is positive, else replaces one
  /// character and skips -`change` more.
  void apply(char32_t code_point, int change) {
    if (change > 0) {
      insert(code_point);
      return;
    }
    replace(code_point);
    for (; change < 0; ++change) skip();
  }

  /// Inserts all characters of `added`.
  void insert_all(std::string_view added);

  /// Consumes one character at the cursor, if any is left, and produces nothing.
  void skip();

  /// Consumes `bytes` (whole characters) at the cursor and produces nothing.
  void skip_bytes(std::size_t bytes);

  /// Replaces the text by what was produced. What is left at the cursor is dropped.
  void finish();

 private:
  ByteRange origin_at(std::size_t byte) const;
  void leave_verbatim();
  void produce(char32_t code_point, ByteRange origin);
  void copy_slowly(ByteRange range);
  void replace_slowly(char32_t code_point);

  AlignedText& text_;
  std::string& out_;
  std::vector<ByteRange>& out_origin_;
  std::size_t cursor_ = 0;
  // Whether out_ so far has, byte for byte, the origins of the source's first out_.size() bytes, so
  // that none need be written yet.
  bool verbatim_ = true;
};

/// Puts `prefix` before a non-empty text; the prefix gets the origin of the text's first character.
void prepend_text(AlignedText& text, std::string_view prefix);

}  // namespace lattice
