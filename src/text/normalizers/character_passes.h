#pragma once

#include "text/aligned_text.h"
#include "text/text_rewriter.h"
#include "text/utf8.h"

/// Whole-text passes that several normalizers share.
namespace lattice::normalizers {

/// Deletes the characters for which `dropped(c)` holds.
template <typename Dropped>
void drop_characters(AlignedText& text, const Dropped& dropped) {
  TextRewriter rewriter(text);
  const std::string_view source = rewriter.source();
  std::size_t kept = 0;  // source[kept, at) is to be copied
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t begin = at;
    if (!dropped(next_code_point(source, at))) continue;
    rewriter.copy({kept, begin});
    rewriter.skip();
    kept = at;
  }
  rewriter.copy({kept, source.size()});
  rewriter.finish();
}

/// Lowercases every character by itself, without regard to context.
void lowercase(AlignedText& text);

}  // namespace lattice::normalizers
