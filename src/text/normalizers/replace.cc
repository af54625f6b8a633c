#include <vector>

#include "text/normalizers/normalizers.h"
#include "text/regex/pattern.h"
#include "text/text_rewriter.h"

namespace lattice::normalizers {
namespace {

class Replace final : public Normalizer {
 public:
  Replace(std::unique_ptr<regex::Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void normalize(AlignedText& text) const override {
    if (text.text.empty()) return;
    std::vector<ByteRange>& matches = text.spare_matches;
    matches.clear();
    pattern_->find_all(text.text, matches);
    if (matches.empty()) return;
    TextRewriter rewriter(text);
    std::size_t kept = 0;
    for (const ByteRange match : matches) {
      rewriter.copy({kept, match.begin});
      // What is inserted gets the origin of the last character of the match.
      if (!replace_alike(rewriter, match)) {
        rewriter.skip_bytes(match.size());
        rewriter.insert_all(content_);
      }
      kept = match.end;
    }
    rewriter.copy({kept, text.text.size()});
    rewriter.finish();
  }

 private:
  /// One character for one character: keeps a text of unchanged lengths free of origins.
  bool replace_alike(TextRewriter& rewriter, ByteRange match) const {
    const bool alike = match.size() == content_.size() && match.size() != 0 &&
                       utf8_length(content_[0]) == content_.size() &&
                       utf8_length(rewriter.source()[match.begin]) == match.size();
    if (!alike) return false;
    std::size_t at = 0;
    rewriter.replace(next_code_point(content_, at));
    return true;
  }

  std::unique_ptr<regex::Pattern> pattern_;
  std::string content_;
};

}  // namespace

Made make_replace(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const TextPattern text_pattern = require_pattern(reader, "pattern");
  std::string content = reader.require_string("content");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  auto pattern = regex::compile(text_pattern, where + ".pattern");
  if (!pattern) return forward_error(pattern);
  return std::make_unique<Replace>(std::move(*pattern), std::move(content));
}

}  // namespace lattice::normalizers
