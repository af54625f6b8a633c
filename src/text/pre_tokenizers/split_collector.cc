#include "text/pre_tokenizers/split_collector.h"

namespace lattice::pre_tokenizers {

SplitBehavior read_behavior(ConfigReader& reader, std::string_view key,
                            const SplitBehavior* fallback) {
  if (fallback != nullptr && !reader.has(key)) return *fallback;
  const std::string name = reader.require_string(key);
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  reader.set_error(ErrorCode::kMalformed,
                   fmt::format("{}: {}: unknown behavior \"{}\"", reader.source(), key, name));
  return SplitBehavior::kIsolated;
}

void SplitCollector::add(ByteRange range, bool is_match) {
  bool join = false;
  switch (behavior_) {
    case SplitBehavior::kRemoved:
      if (!is_match) put(range);
      return;
    case SplitBehavior::kIsolated:
      put(range);
      return;
    case SplitBehavior::kContiguous:
      join = is_match == previous_match_;
      break;
    case SplitBehavior::kMergedWithPrevious:
      join = is_match && !previous_match_;
      break;
    case SplitBehavior::kMergedWithNext:
      join = pending_is_match_ && !is_match;
      break;
  }
  previous_match_ = is_match;
  pending_is_match_ = is_match;
  if (join && has_pending_) {
    pending_.end = range.end;
    return;
  }
  if (has_pending_) put(pending_);
  pending_ = range;
  has_pending_ = true;
}

void SplitCollector::end_split() {
  if (has_pending_) put(pending_);
  has_pending_ = pending_is_match_ = previous_match_ = false;
}

}  // namespace lattice::pre_tokenizers
