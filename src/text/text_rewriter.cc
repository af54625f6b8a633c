#include "text/text_rewriter.h"

#include <algorithm>

namespace lattice {

TextRewriter::TextRewriter(AlignedText& text)
    : text_(text), out_(text.spare_text), out_origin_(text.spare_origin) {
  out_.clear();
  out_origin_.clear();
  // Room for the usual insertions; more grows geometrically.
  if (out_.capacity() < text.text.size()) out_.reserve(text.text.size() + text.text.size() / 8);
}

ByteRange TextRewriter::origin_at(std::size_t byte) const {
  if (!text_.tracks_origin) return {};
  return text_.origin_of({byte, byte + 1});
}

void TextRewriter::leave_verbatim() {
  if (!verbatim_) return;
  verbatim_ = false;
  if (!text_.tracks_origin) return;
  if (text_.identity) text_.end_identity();
  out_origin_.assign(text_.origin.begin(),
                     text_.origin.begin() + static_cast<std::ptrdiff_t>(out_.size()));
}

void TextRewriter::produce(char32_t code_point, ByteRange origin) {
  const std::size_t before = out_.size();
  append_utf8(out_, code_point);
  if (text_.tracks_origin) out_origin_.insert(out_origin_.end(), out_.size() - before, origin);
}

void TextRewriter::copy_slowly(ByteRange range) {
  // With the cursor elsewhere, the characters replace whatever is at the cursor.
  if (range.begin != cursor_) {
    for (std::size_t at = range.begin; at < range.end;) {
      replace_slowly(next_code_point(text_.text, at));
    }
    return;
  }
  out_.append(text_.text, range.begin, range.size());
  if (text_.tracks_origin) {
    const auto first = text_.origin.begin() + static_cast<std::ptrdiff_t>(range.begin);
    out_origin_.insert(out_origin_.end(), first, first + static_cast<std::ptrdiff_t>(range.size()));
  }
  cursor_ = range.end;
}

void TextRewriter::replace_slowly(char32_t code_point) {
  leave_verbatim();
  if (cursor_ >= text_.text.size()) {
    // Characters charged twice (see Precompiled) can outrun the text.
    insert(code_point);
    return;
  }
  const std::size_t at = cursor_;
  cursor_ += utf8_length(text_.text[at]);
  produce(code_point, origin_at(at));
}

void TextRewriter::insert(char32_t code_point) {
  leave_verbatim();
  if (cursor_ == 0) {
    produce(code_point, {text_.origin_begin, text_.origin_begin});
  } else {
    produce(code_point, origin_at(cursor_ - 1));
  }
}

void TextRewriter::insert_all(std::string_view added) {
  for (std::size_t at = 0; at < added.size();) insert(next_code_point(added, at));
}

void TextRewriter::skip() {
  if (cursor_ < text_.text.size()) skip_bytes(utf8_length(text_.text[cursor_]));
}

void TextRewriter::skip_bytes(std::size_t bytes) {
  leave_verbatim();
  cursor_ += bytes;
}

void TextRewriter::finish() {
  text_.text.swap(out_);
  if (verbatim_) {
    // Trailing characters can only have been dropped by not copying them.
    if (!text_.identity && text_.tracks_origin) text_.origin.resize(text_.text.size());
    return;
  }
  text_.identity = false;
  text_.origin.swap(out_origin_);
}

void prepend_text(AlignedText& text, std::string_view prefix) {
  TextRewriter rewriter(text);
  const std::size_t first_size = utf8_length(text.text[0]);
  std::size_t at = 0;
  const char32_t first = next_code_point(text.text, at);
  for (at = 0; at < prefix.size();) {
    const int change = at == 0 ? 0 : 1;
    rewriter.apply(next_code_point(prefix, at), change);
  }
  rewriter.insert(first);
  if (prefix.empty()) rewriter.skip();
  rewriter.copy({first_size, text.text.size()});
  rewriter.finish();
}

}  // namespace lattice
