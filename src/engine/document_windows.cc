#include "engine/document_windows.h"

#include <algorithm>

namespace lattice {
namespace {

EncodeOptions plain_options() {
  EncodeOptions options;
  options.add_special_tokens = false;
  options.with_offsets = true;
  return options;
}

/// A document and where its tokens are.
class Cutter {
 public:
  Cutter(const Tokenizer& tokenizer, const std::string& document, std::size_t window)
      : tokenizer_(tokenizer),
        document_(document),
        window_(window),
        offsets_(tokenizer.encode(document, plain_options()).offsets) {}

  std::size_t num_tokens() const { return offsets_.size(); }

  /// The tokens from `first` on that fit a window, as text. A text that begins inside a word may
  /// have other tokens, and more of them, than the document has there. Sets the end token.
  std::string cut(std::size_t first, std::size_t& last) const {
    last = std::min(first + window_, num_tokens());
    for (;;) {
      std::string text = part(first, last);
      const std::size_t count = tokenizer_.encode(text, plain_options()).ids.size();
      if (count <= window_ || last == first + 1) return text;
      last = std::max(first + 1, last - std::min(count - window_, last - first - 1));
    }
  }

 private:
  std::string part(std::size_t first, std::size_t last) const {
    const std::size_t begin = first == 0 ? 0 : offsets_[first].first;
    const std::size_t end = last == num_tokens() ? document_.size() : offsets_[last - 1].second;
    return document_.substr(begin, std::max(begin, end) - begin);
  }

  const Tokenizer& tokenizer_;
  const std::string& document_;
  std::size_t window_;
  std::vector<std::pair<std::size_t, std::size_t>> offsets_;
};

}  // namespace

std::vector<std::string> document_windows(const Tokenizer& tokenizer, const std::string& document,
                                          std::size_t window) {
  const Cutter cutter(tokenizer, document, window);
  if (cutter.num_tokens() <= window) return {document};
  std::vector<std::string> windows;
  for (std::size_t first = 0, last = 0;; first = std::max(first + 1, last - window / 4)) {
    windows.push_back(cutter.cut(first, last));
    if (last == cutter.num_tokens()) return windows;
  }
}

}  // namespace lattice
