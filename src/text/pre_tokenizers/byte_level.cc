#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/pre_tokenizers/split_collector.h"
#include "text/regex/word_scanner.h"
#include "text/text_rewriter.h"

namespace lattice::pre_tokenizers {
namespace {

/// Puts a space before each split that lacks one, cuts words as GPT-2 does, and asks for the
/// byte-level alphabet.
class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex)
      : add_prefix_space_(add_prefix_space), use_regex_(use_regex) {}

 private:
  void do_split(PreTokenizedText& text) const override {
    if (add_prefix_space_) add_spaces(text);
    if (use_regex_) split_at_matches(text, words_, SplitBehavior::kIsolated, false);
    text.byte_mapping_pending = true;
  }

  static void add_spaces(PreTokenizedText& text) {
    TextRewriter rewriter(text.buffer);
    const std::string_view source = rewriter.source();
    auto& out = text.spare_splits;
    out.clear();
    std::size_t kept = 0;
    for (const ByteRange split : text.splits) {
      rewriter.copy({kept, split.begin});
      kept = split.begin;
      const std::size_t begin = rewriter.produced();
      if (source[split.begin] != ' ') {
        // As the library does: the space replaces the first character, which is then inserted.
        const char32_t first = next_code_point(source, kept);
        rewriter.replace(U' ');
        rewriter.insert(first);
      }
      rewriter.copy({kept, split.end});
      kept = split.end;
      out.push_back({begin, rewriter.produced()});
    }
    rewriter.copy({kept, source.size()});
    rewriter.finish();
    text.splits.swap(out);
  }

  bool add_prefix_space_;
  bool use_regex_;
  regex::WordScanner words_{*regex::find_word_rules(regex::kGpt2Expression)};
};

}  // namespace

Made make_byte_level(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const bool add_prefix_space = require_bool(reader, "add_prefix_space");
  const bool use_regex = reader.get_bool("use_regex", true);
  // Concerns the post-processor of the same type only.
  require_bool(reader, "trim_offsets");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<ByteLevel>(add_prefix_space, use_regex);
}

}  // namespace lattice::pre_tokenizers
