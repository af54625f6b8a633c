#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/pre_tokenizers/split_collector.h"
#include "text/text_rewriter.h"

namespace lattice::pre_tokenizers {
namespace {

enum class PrependScheme { kFirst, kNever, kAlways };

/// Replaces each space by a visible character, puts that character before a split that does not
/// start with one (always, or only where the original text begins), and cuts before each of them.
class Metaspace final : public PreTokenizer {
 public:
  Metaspace(char32_t replacement, PrependScheme scheme, bool split)
      : replacement_(replacement), scheme_(scheme), split_(split) {}

  bool needs_origin() const override { return scheme_ == PrependScheme::kFirst; }

 private:
  void do_split(PreTokenizedText& text) const override {
    replace_spaces(text);
    if (!split_) return;
    split_at_characters(text, SplitBehavior::kMergedWithNext,
                        [&](char32_t c) { return c == replacement_; });
  }

  bool wants_prefix(const PreTokenizedText& text, ByteRange split) const {
    if (scheme_ == PrependScheme::kNever) return false;
    std::size_t at = split.begin;
    const char32_t first = next_code_point(text.buffer.text, at);
    if (first == U' ' || first == replacement_) return false;
    return scheme_ == PrependScheme::kAlways || text.buffer.origin_of(split).begin == 0;
  }

  void replace_spaces(PreTokenizedText& text) const {
    TextRewriter rewriter(text.buffer);
    const std::string_view source = rewriter.source();
    auto& out = text.spare_splits;
    out.clear();
    std::size_t kept = 0;  // source[kept, at) is to be copied
    for (const ByteRange split : text.splits) {
      rewriter.copy({kept, split.begin});
      kept = split.begin;
      const std::size_t begin = rewriter.produced();
      if (wants_prefix(text, split)) {
        // As the library does: the prefix replaces the first character, which is then inserted.
        const char32_t first = next_code_point(source, kept);
        rewriter.replace(replacement_);
        rewriter.insert(first);
      }
      for (std::size_t at = kept; at < split.end; ++at) {
        if (source[at] != ' ') continue;
        rewriter.copy({kept, at});
        rewriter.replace(replacement_);
        kept = at + 1;
      }
      rewriter.copy({kept, split.end});
      kept = split.end;
      out.push_back({begin, rewriter.produced()});
    }
    rewriter.copy({kept, source.size()});
    rewriter.finish();
    text.splits.swap(out);
  }

  char32_t replacement_;
  PrependScheme scheme_;
  bool split_;
};

PrependScheme read_scheme(ConfigReader& reader) {
  const std::string name = reader.get_string("prepend_scheme", "always");
  PrependScheme scheme = PrependScheme::kAlways;
  if (name == "first") {
    scheme = PrependScheme::kFirst;
  } else if (name == "never") {
    scheme = PrependScheme::kNever;
  } else if (name != "always") {
    reader.set_error(ErrorCode::kMalformed, fmt::format("{}: prepend_scheme: unknown scheme \"{}\"",
                                                        reader.source(), name));
  }
  // The older key may only repeat what the newer one says.
  if (!reader.get_bool("add_prefix_space", true) && scheme != PrependScheme::kNever) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: add_prefix_space is false, but prepend_scheme is not \"never\"",
                    reader.source()));
  }
  return scheme;
}

}  // namespace

Made make_metaspace(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const char32_t replacement = require_character(reader, "replacement");
  const PrependScheme scheme = read_scheme(reader);
  const bool split = reader.get_bool("split", true);
  reader.ignore({"str_rep"});  // always the replacement
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Metaspace>(replacement, scheme, split);
}

}  // namespace lattice::pre_tokenizers
