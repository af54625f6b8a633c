// Pre-tokenizers that cut at single characters of a kind.
#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/pre_tokenizers/split_collector.h"
#include "text/unicode/code_point.h"

namespace lattice::pre_tokenizers {
namespace {

class FlagSplit final : public PreTokenizer {
 public:
  FlagSplit(unicode::CodePointFlag flag, SplitBehavior behavior)
      : flag_(flag), behavior_(behavior) {}

 private:
  void do_split(PreTokenizedText& text) const override {
    const auto& flags = unicode::flag_table();
    split_at_characters(text, behavior_, [&](char32_t c) { return (flags[c] & flag_) != 0; });
  }

  unicode::CodePointFlag flag_;
  SplitBehavior behavior_;
};

class DelimiterSplit final : public PreTokenizer {
 public:
  explicit DelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}

 private:
  void do_split(PreTokenizedText& text) const override {
    split_at_characters(text, SplitBehavior::kRemoved, [&](char32_t c) { return c == delimiter_; });
  }

  char32_t delimiter_;
};

/// Runs of word characters, and runs of what is neither word nor space.
class Whitespace final : public PreTokenizer {
 private:
  enum class Kind { kSpace, kWord, kOther };

  void do_split(PreTokenizedText& text) const override {
    const auto& flags = unicode::flag_table();
    const std::string_view source = text.buffer.text;
    auto& out = text.spare_splits;
    out.clear();
    for (const ByteRange split : text.splits) {
      Kind run_kind = Kind::kSpace;
      std::size_t run = split.begin;
      for (std::size_t at = split.begin; at < split.end;) {
        const std::size_t begin = at;
        const unsigned found = flags[next_code_point(source, at)];
        const Kind kind = (found & unicode::kRegexWord) != 0    ? Kind::kWord
                          : (found & unicode::kWhiteSpace) != 0 ? Kind::kSpace
                                                                : Kind::kOther;
        if (kind == run_kind) continue;
        if (run_kind != Kind::kSpace) out.push_back({run, begin});
        run = begin;
        run_kind = kind;
      }
      if (run_kind != Kind::kSpace) out.push_back({run, split.end});
    }
    text.splits.swap(out);
  }
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::size_t length) : length_(length) {}

 private:
  void do_split(PreTokenizedText& text) const override {
    const std::string& source = text.buffer.text;
    auto& out = text.spare_splits;
    out.clear();
    for (const ByteRange split : text.splits) {
      std::size_t begin = split.begin;
      std::size_t characters = 0;
      for (std::size_t at = split.begin; at < split.end;) {
        at += utf8_length(source[at]);
        if (++characters < length_ && at < split.end) continue;
        out.push_back({begin, at});
        begin = at;
        characters = 0;
      }
    }
    text.splits.swap(out);
  }

  std::size_t length_;
};

Made make_flag_split(const ConfigReader& reader, unicode::CodePointFlag flag,
                     SplitBehavior behavior) {
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<FlagSplit>(flag, behavior);
}

}  // namespace

Made make_whitespace_split(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  return make_flag_split(reader, unicode::kWhiteSpace, SplitBehavior::kRemoved);
}

Made make_punctuation(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  constexpr SplitBehavior kDefault = SplitBehavior::kIsolated;
  const SplitBehavior behavior = read_behavior(reader, "behavior", &kDefault);
  return make_flag_split(reader, unicode::kPunctuation, behavior);
}

Made make_digits(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const bool individual = require_bool(reader, "individual_digits");
  return make_flag_split(reader, unicode::kNumeric,
                         individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

Made make_delimiter_split(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const char32_t delimiter = require_character(reader, "delimiter");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<DelimiterSplit>(delimiter);
}

Made make_whitespace(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Whitespace>();
}

Made make_fixed_length(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const std::int64_t length =
      reader.get_int("length", 5, 1, std::numeric_limits<std::int64_t>::max());
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<FixedLength>(static_cast<std::size_t>(length));
}

}  // namespace lattice::pre_tokenizers
