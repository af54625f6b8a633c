#include "text/truncation.h"

#include <algorithm>
#include <limits>

#include "io/config_reader.h"

namespace lattice {
namespace {

ByteRange keep(std::size_t count, std::size_t kept, TruncationSide side) {
  kept = std::min(kept, count);
  return side == TruncationSide::kRight ? ByteRange{0, kept} : ByteRange{count - kept, count};
}

// The shorter text stays whole while that leaves the longer one at least as much; else both get
// half, the longer one the odd token.
void longest_first(std::size_t& first, std::size_t& second, std::size_t max_tokens) {
  std::size_t shorter = std::min(first, second);
  std::size_t longer = shorter > max_tokens ? shorter : std::max(shorter, max_tokens - shorter);
  if (shorter + longer > max_tokens) {
    shorter = max_tokens / 2;
    longer = shorter + max_tokens % 2;
  }
  const bool first_is_longer = first > second;
  first = first_is_longer ? longer : shorter;
  second = first_is_longer ? shorter : longer;
}

}  // namespace

Result<std::optional<FileTruncation>> parse_truncation(const Json& json, const std::string& where) {
  if (json.is_null()) return std::optional<FileTruncation>();
  ConfigReader reader(json, where);
  FileTruncation truncation;
  truncation.max_length = static_cast<std::size_t>(
      reader.require_int("max_length", 0, std::numeric_limits<std::int64_t>::max()));
  const std::string side = reader.get_string("direction", "Right");
  if (side == "Left") {
    truncation.side = TruncationSide::kLeft;
  } else if (side != "Right") {
    reader.set_error(ErrorCode::kMalformed, where + ": direction: expected Left or Right");
  }
  const std::string strategy = reader.get_string("strategy", "LongestFirst");
  if (strategy == "OnlyFirst") {
    truncation.strategy = TruncationStrategy::kOnlyFirst;
  } else if (strategy == "OnlySecond") {
    truncation.strategy = TruncationStrategy::kOnlySecond;
  } else if (strategy != "LongestFirst") {
    reader.set_error(ErrorCode::kMalformed,
                     where + ": strategy: expected LongestFirst, OnlyFirst or OnlySecond");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  return std::optional(truncation);
}

KeptTokens truncate_tokens(std::size_t num_first, std::optional<std::size_t> num_second,
                           std::optional<std::size_t> max_tokens, TruncationSide side,
                           TruncationStrategy strategy) {
  std::size_t first = num_first;
  std::size_t second = num_second.value_or(0);
  const std::size_t total = first + second;
  if (!max_tokens || total <= *max_tokens) return {{0, first}, {0, second}, false};
  if (*max_tokens == 0) {
    first = second = 0;
  } else if (strategy == TruncationStrategy::kLongestFirst) {
    if (num_second) {
      longest_first(first, second, *max_tokens);
    } else {
      first = *max_tokens;
    }
  } else {
    const bool only_first = strategy == TruncationStrategy::kOnlyFirst;
    if (!only_first && !num_second) {
      raise(ErrorCode::kInvalidArgument,
            "[tokenizer] truncation of the second text only, but there is none");
    }
    std::size_t& target = only_first ? first : second;
    const std::size_t to_remove = total - *max_tokens;
    if (target <= to_remove) {
      raise(ErrorCode::kTooLong,
            "[tokenizer] {} tokens, at most {} allowed: the {} text has only {} to remove", total,
            *max_tokens, only_first ? "first" : "second", target);
    }
    target -= to_remove;
  }
  return {keep(num_first, first, side), keep(num_second.value_or(0), second, side), true};
}

}  // namespace lattice
