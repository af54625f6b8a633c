#include "engine/document_windows.h"

#include <algorithm>

namespace lattice {

std::vector<std::string> document_windows(const Tokenizer& tokenizer, const std::string& document,
                                          std::size_t window) {
  EncodeOptions options;
  options.add_special_tokens = false;
  options.with_offsets = true;
  const Encoding encoding = tokenizer.encode(document, options);
  const std::size_t num_tokens = encoding.ids.size();
  if (num_tokens <= window) return {document};
  const std::size_t step = window - window / 4;
  std::vector<std::string> windows;
  for (std::size_t first = 0;; first += step) {
    const std::size_t last = std::min(first + window, num_tokens);
    const std::size_t begin = encoding.offsets[first].first;
    const std::size_t end =
        last == num_tokens ? document.size() : encoding.offsets[last - 1].second;
    windows.push_back(document.substr(begin, std::max(begin, end) - begin));
    if (last == num_tokens) return windows;
  }
}

}  // namespace lattice
