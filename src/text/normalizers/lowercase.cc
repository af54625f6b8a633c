#include "text/normalizers/character_passes.h"
#include "text/normalizers/normalizers.h"
#include "text/unicode/code_point.h"

namespace lattice::normalizers {
namespace {

class Lowercase final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override { lowercase(text); }
};

}  // namespace

void lowercase(AlignedText& text) {
  const auto& flags = unicode::flag_table();
  TextRewriter rewriter(text);
  const std::string_view source = rewriter.source();
  std::size_t kept = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(source, at);
    if ((flags[c] & unicode::kHasLowercase) == 0) continue;
    rewriter.copy({kept, begin});
    rewriter.replace(unicode::to_lower(c));
    if (c == U'\u0130') rewriter.insert(U'\u0307');
    kept = at;
  }
  rewriter.copy({kept, source.size()});
  rewriter.finish();
}

Made make_lowercase(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Lowercase>();
}

}  // namespace lattice::normalizers
