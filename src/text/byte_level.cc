#include "text/byte_level.h"

#include "text/text_rewriter.h"

namespace lattice {

void map_bytes_to_alphabet(AlignedText& text) {
  TextRewriter rewriter(text);
  for (const char byte : rewriter.source()) {
    const char16_t mapped = kByteLevelAlphabet[static_cast<unsigned char>(byte)];
    rewriter.apply(mapped, is_utf8_continuation(byte) ? 1 : 0);
  }
  rewriter.finish();
}

}  // namespace lattice
