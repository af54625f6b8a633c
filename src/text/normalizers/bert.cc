#include <algorithm>
#include <array>

#include "text/normalizers/character_passes.h"
#include "text/normalizers/normalizers.h"
#include "text/unicode/code_point.h"
#include "text/unicode/normalization.h"

namespace lattice::normalizers {
namespace {

struct BertOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

/// Cleaning, spaces around Chinese characters, accent stripping and lowercasing. They are four
/// passes by definition; run() fuses them into one, which differs only if canonical ordering moves
/// a mark that stays (few do: most marks with a combining class are stripped). Such a text takes
/// the four passes.
class Bert final : public Normalizer {
 public:
  explicit Bert(BertOptions options) : options_(options) {
    const auto& flags = unicode::flag_table();
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) bytes_[byte] = static_cast<char>(byte);
    for (char32_t c = 0; c < 128; ++c) {
      const bool dropped = options.clean_text && (flags[c] & unicode::kBertDropped) != 0;
      const bool space = options.clean_text && (flags[c] & unicode::kWhiteSpace) != 0;
      const char32_t lower = options.lowercase ? unicode::to_lower(c) : c;
      bytes_[c] = static_cast<char>(space ? U' ' : lower);
      ascii_kept_[c] = !dropped;
    }
    watched_ = static_cast<std::uint16_t>(
        (options.clean_text ? unicode::kBertDropped | unicode::kWhiteSpace : 0) |
        (options.handle_chinese_chars ? unicode::kBertChinese : 0) |
        (options.strip_accents
             ? unicode::kMarkNonspacing | unicode::kHasCanonical | unicode::kNonStarter
             : 0) |
        (options.lowercase ? unicode::kHasLowercase : 0));
  }

  void normalize(AlignedText& text) const override {
    if (!run_fused(text)) run_passes(text);
  }

 private:
  /// Leaves `text` alone and returns false when the passes cannot be fused for it.
  bool run_fused(AlignedText& text) const {
    const auto& flags = unicode::flag_table();
    TextRewriter rewriter(text);
    const std::string_view source = rewriter.source();
    std::size_t kept = 0;  // source[kept, at) is to be copied through bytes_
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t begin = at;
      if (is_kept_ascii(source[at])) {
        ++at;
        continue;
      }
      const char32_t c = next_code_point(source, at);
      const unsigned found = flags[c] & watched_;
      if (found == 0) continue;
      rewriter.copy_mapped({kept, begin}, bytes_.data());
      kept = at;
      if ((found & unicode::kBertDropped) != 0) {
        rewriter.skip();
      } else if ((found & unicode::kWhiteSpace) != 0) {
        rewriter.replace(U' ');
      } else if (!put_special(rewriter, flags, c)) {
        return false;
      }
    }
    rewriter.copy_mapped({kept, source.size()}, bytes_.data());
    rewriter.finish();
    return true;
  }

  bool is_kept_ascii(char byte) const {
    const auto value = static_cast<unsigned char>(byte);
    return value < 128 && ascii_kept_[value];
  }

  /// A character that is decomposed, stripped, lowercased or Chinese. False if a mark stays.
  bool put_special(TextRewriter& rewriter, const unicode::FlagTable& flags, char32_t c) const {
    const bool chinese = options_.handle_chinese_chars && (flags[c] & unicode::kBertChinese) != 0;
    if (chinese) rewriter.replace(U' ');
    // The first character produced replaces, unless a space did already.
    int change = chinese ? 1 : 0;
    const auto put = [&](char32_t part) {
      rewriter.apply(options_.lowercase ? unicode::to_lower(part) : part, change);
      change = 1;
      if (options_.lowercase && part == U'\u0130') rewriter.insert(U'\u0307');
    };
    if (!options_.strip_accents) {
      put(c);
    } else {
      const unicode::Decomposition decomposition = unicode::decompose_canonical(c);
      auto parts = decomposition.characters();
      if (parts.empty()) parts = {&c, 1};
      for (const char32_t part : parts) {
        if ((flags[part] & unicode::kMarkNonspacing) != 0) continue;
        if ((flags[part] & unicode::kNonStarter) != 0) return false;
        put(part);
      }
      if (change == 0) rewriter.skip();
    }
    if (chinese) rewriter.insert(U' ');
    return true;
  }

  void run_passes(AlignedText& text) const {
    const auto& flags = unicode::flag_table();
    const auto has = [&](unicode::CodePointFlag flag) {
      return [&flags, flag](char32_t c) { return (flags[c] & flag) != 0; };
    };
    if (options_.clean_text) {
      drop_characters(text, has(unicode::kBertDropped));
      replace_white_space(text, flags);
    }
    if (options_.handle_chinese_chars) surround_chinese(text, flags);
    if (options_.strip_accents) {
      unicode::normalize(text, unicode::Form::kNfd);
      drop_characters(text, has(unicode::kMarkNonspacing));
    }
    if (options_.lowercase) lowercase(text);
  }

  static void replace_white_space(AlignedText& text, const unicode::FlagTable& flags) {
    TextRewriter rewriter(text);
    const std::string_view source = rewriter.source();
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t begin = at;
      const bool space = (flags[next_code_point(source, at)] & unicode::kWhiteSpace) != 0;
      if (space) {
        rewriter.replace(U' ');
      } else {
        rewriter.copy({begin, at});
      }
    }
    rewriter.finish();
  }

  static void surround_chinese(AlignedText& text, const unicode::FlagTable& flags) {
    TextRewriter rewriter(text);
    const std::string_view source = rewriter.source();
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t begin = at;
      const char32_t c = next_code_point(source, at);
      if ((flags[c] & unicode::kBertChinese) == 0) {
        rewriter.copy({begin, at});
        continue;
      }
      rewriter.replace(U' ');
      rewriter.insert(c);
      rewriter.insert(U' ');
    }
    rewriter.finish();
  }

  BertOptions options_;
  std::uint16_t watched_;
  std::array<char, 256> bytes_;  // what becomes of each byte: ASCII changes, others stay
  std::array<bool, 128> ascii_kept_;
};

}  // namespace

Made make_bert(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  BertOptions options;
  options.clean_text = require_bool(reader, "clean_text");
  options.handle_chinese_chars = require_bool(reader, "handle_chinese_chars");
  options.lowercase = require_bool(reader, "lowercase");
  // Absent or null means: as lowercase.
  options.strip_accents = reader.get_bool("strip_accents", options.lowercase);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Bert>(options);
}

}  // namespace lattice::normalizers
