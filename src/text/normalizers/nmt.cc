#include "text/normalizers/normalizers.h"
#include "text/text_rewriter.h"

namespace lattice::normalizers {
namespace {

/// Control characters that are dropped. Source: do_nmt in tokenizers (normalizers/unicode.rs).
bool is_dropped(char32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
         c == 0x8F || c == 0x9F;
}

/// Characters that become a space.
bool is_space(char32_t c) {
  return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
         c == 0xFFFD;
}

class Nmt final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override {
    TextRewriter rewriter(text);
    const std::string_view source = rewriter.source();
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t begin = at;
      const char32_t c = next_code_point(source, at);
      if (is_dropped(c)) {
        rewriter.skip();
      } else if (is_space(c)) {
        rewriter.replace(U' ');
      } else {
        rewriter.copy({begin, at});
      }
    }
    rewriter.finish();
  }
};

}  // namespace

Made make_nmt(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Nmt>();
}

}  // namespace lattice::normalizers
