#pragma once

#include <string>
#include <vector>

#include "text/component_json.h"
#include "text/pre_tokenizer.h"
#include "text/regex/pattern.h"
#include "text/utf8.h"

namespace lattice::pre_tokenizers {

/// What becomes of the delimiters a pattern finds. For "-" in "the-final--countdown":
/// removed: the|final|countdown; isolated: the|-|final|-|-|countdown;
/// merged with previous: the-|final-|-|countdown; merged with next: the|-final|-|-countdown;
/// contiguous: the|-|final|--|countdown.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Reads the member `key`, e.g. "MergedWithNext" or "Isolated"; a missing key gives `fallback`, or
/// an error when that is null.
SplitBehavior read_behavior(ConfigReader& reader, std::string_view key,
                            const SplitBehavior* fallback);

/// Turns the matches and gaps of one split after another into the new splits. Per split, call add()
/// with consecutive ranges that cover it (a match may be empty), then end_split().
class SplitCollector {
 public:
  SplitCollector(PreTokenizedText& text, SplitBehavior behavior)
      : text_(text), out_(text.spare_splits), behavior_(behavior) {
    out_.clear();
  }

  void add(ByteRange range, bool is_match);
  void end_split();

  /// Installs the new splits.
  void finish() { text_.splits.swap(out_); }

 private:
  void put(ByteRange range) {
    if (range.begin != range.end) out_.push_back(range);
  }

  PreTokenizedText& text_;
  std::vector<ByteRange>& out_;
  SplitBehavior behavior_;
  // The piece that may still grow, and whether the last range added was a match.
  ByteRange pending_;
  bool has_pending_ = false;
  bool pending_is_match_ = false;
  bool previous_match_ = false;
};

/// Cuts every split at the single characters for which `is_match(c)` holds.
template <typename IsMatch>
void split_at_characters(PreTokenizedText& text, SplitBehavior behavior, const IsMatch& is_match) {
  SplitCollector collector(text, behavior);
  const std::string_view source = text.buffer.text;
  for (const ByteRange split : text.splits) {
    std::size_t gap = split.begin;
    for (std::size_t at = split.begin; at < split.end;) {
      const std::size_t begin = at;
      if (!is_match(next_code_point(source, at))) continue;
      if (gap < begin) collector.add({gap, begin}, false);
      collector.add({begin, at}, true);
      gap = at;
    }
    if (gap < split.end) collector.add({gap, split.end}, false);
    collector.end_split();
  }
  collector.finish();
}

/// Cuts every split at the matches of `pattern`, or at what is between them when `invert`.
void split_at_matches(PreTokenizedText& text, const regex::Pattern& pattern, SplitBehavior behavior,
                      bool invert);

}  // namespace lattice::pre_tokenizers
