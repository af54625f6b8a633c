#include "text/unicode/code_point.h"

#include <algorithm>
#include <vector>

#include "text/unicode/tables.h"

namespace lattice::unicode {
namespace {

FlagTable build_flag_table() {
  const FlagData& data = flag_data();
  std::vector<FlagTable::Run> runs;
  runs.reserve(data.runs.size());
  for (const std::uint32_t run : data.runs) runs.push_back({run >> 8, data.sets[run & 0xFFU]});
  return FlagTable(runs);
}

using OffsetTable = CodePointTable<std::int32_t>;

OffsetTable build_lowercase_table() {
  std::vector<OffsetTable::Run> moved;
  for (const CaseRule& rule : lowercase_rules()) {
    for (char32_t c = rule.first; c <= rule.last; c += rule.stride) {
      moved.push_back({c, rule.offset});
    }
  }
  moved.push_back({0x130, 'i' - 0x130});
  std::sort(moved.begin(), moved.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<OffsetTable::Run> runs;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    runs.push_back(moved[i]);
    const bool adjacent = i + 1 < moved.size() && moved[i + 1].first == moved[i].first + 1;
    if (!adjacent) runs.push_back({moved[i].first + 1, 0});
  }
  return OffsetTable(runs);
}

}  // namespace

const FlagTable& flag_table() {
  static const FlagTable kTable = build_flag_table();
  return kTable;
}

char32_t to_lower(char32_t c) {
  static const OffsetTable kTable = build_lowercase_table();
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + kTable[c]);
}

}  // namespace lattice::unicode
