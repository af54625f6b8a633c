#include "text/word_cache.h"

#include <atomic>

namespace lattice {

WordCache& thread_word_cache() {
  thread_local WordCache cache;
  return cache;
}

std::uint32_t next_model_number() {
  static std::atomic<std::uint32_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void append_symbols(const std::vector<BpeSymbol>& symbols, ByteRange word, TokenList& tokens) {
  std::size_t begin = word.begin;
  for (const BpeSymbol& symbol : symbols) {
    const std::size_t end = std::min(begin + symbol.length, word.end);
    tokens.add(symbol.id, begin, end);
    begin = end;
  }
}

}  // namespace lattice
