#include "text/normalizers/character_passes.h"
#include "text/normalizers/normalizers.h"
#include "text/unicode/code_point.h"

namespace lattice::normalizers {
namespace {

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  void normalize(AlignedText& text) const override {
    const std::string& source = text.text;
    std::size_t begin = 0;
    while (left_ && begin < source.size()) {
      std::size_t next = begin;
      if (!unicode::is_white_space(next_code_point(source, next))) break;
      begin = next;
    }
    std::size_t end = source.size();
    while (right_ && end > begin) {
      std::size_t last = end - 1;
      while (is_utf8_continuation(source[last])) --last;
      std::size_t at = last;
      if (!unicode::is_white_space(next_code_point(source, at))) break;
      end = last;
    }
    if (begin == 0 && end == source.size()) return;
    TextRewriter rewriter(text);
    rewriter.skip_bytes(begin);
    rewriter.copy({begin, end});
    rewriter.skip_bytes(source.size() - end);
    rewriter.finish();
  }

 private:
  bool left_;
  bool right_;
};

class StripAccents final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override {
    const auto& flags = unicode::flag_table();
    drop_characters(text, [&](char32_t c) { return (flags[c] & unicode::kCombiningMark) != 0; });
  }
};

}  // namespace

Made make_strip(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const bool left = require_bool(reader, "strip_left");
  const bool right = require_bool(reader, "strip_right");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Strip>(left, right);
}

Made make_strip_accents(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<StripAccents>();
}

}  // namespace lattice::normalizers
