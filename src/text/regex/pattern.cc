#include "text/regex/pattern.h"

#include "text/regex/pcre_pattern.h"
#include "text/regex/translator.h"
#include "text/regex/word_scanner.h"

namespace lattice::regex {
namespace {

/// A fixed, non-empty string.
class Literal final : public Pattern {
 public:
  explicit Literal(std::string text) : text_(std::move(text)) {}

  void find_all(std::string_view subject, std::vector<ByteRange>& matches) const override {
    for (std::size_t at = subject.find(text_); at != std::string_view::npos;
         at = subject.find(text_, at + text_.size())) {
      matches.push_back({at, at + text_.size()});
    }
  }

 private:
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Pattern>> compile_generic(std::string_view regular_expression,
                                                 const std::string& where) {
  auto translated = translate_to_pcre(regular_expression);
  if (!translated) {
    return fail(translated.error().code, "{}: {}", where, translated.error().message);
  }
  auto program = PcrePattern::compile(*translated);
  if (!program) {
    return fail(program.error().code, "{}: regular expression \"{}\": {}", where,
                regular_expression, program.error().message);
  }
  return std::unique_ptr<Pattern>(std::move(*program));
}

Result<std::unique_ptr<Pattern>> compile(const TextPattern& pattern, const std::string& where) {
  if (!pattern.is_regex && !pattern.text.empty()) return std::make_unique<Literal>(pattern.text);
  if (auto rules = find_word_rules(pattern.text)) return std::make_unique<WordScanner>(*rules);
  return compile_generic(pattern.text, where);
}

}  // namespace lattice::regex
