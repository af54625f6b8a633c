#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/pre_tokenizers/split_collector.h"
#include "text/regex/pattern.h"

namespace lattice::pre_tokenizers {
namespace {

class Split final : public PreTokenizer {
 public:
  Split(std::unique_ptr<regex::Pattern> pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

 private:
  void do_split(PreTokenizedText& text) const override {
    split_at_matches(text, *pattern_, behavior_, invert_);
  }

  std::unique_ptr<regex::Pattern> pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

}  // namespace

void split_at_matches(PreTokenizedText& text, const regex::Pattern& pattern, SplitBehavior behavior,
                      bool invert) {
  SplitCollector collector(text, behavior);
  const std::string_view source = text.buffer.text;
  auto& matches = text.spare_matches;
  for (const ByteRange split : text.splits) {
    matches.clear();
    pattern.find_all(source.substr(split.begin, split.size()), matches);
    std::size_t gap = split.begin;
    for (const ByteRange match : matches) {
      const ByteRange range = {split.begin + match.begin, split.begin + match.end};
      if (gap != range.begin) collector.add({gap, range.begin}, invert);
      collector.add(range, !invert);
      gap = range.end;
    }
    if (gap != split.end) collector.add({gap, split.end}, invert);
    collector.end_split();
  }
  collector.finish();
}

Made make_split(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const TextPattern text_pattern = require_pattern(reader, "pattern");
  const SplitBehavior behavior = read_behavior(reader, "behavior", nullptr);
  const bool invert = require_bool(reader, "invert");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  auto pattern = regex::compile(text_pattern, where + ".pattern");
  if (!pattern) return forward_error(pattern);
  return std::make_unique<Split>(std::move(*pattern), behavior, invert);
}

}  // namespace lattice::pre_tokenizers
