#include "text/regex/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace lattice::regex {
namespace {

struct CategoryName {
  std::string_view name;
  std::string_view long_name;
};

// In the order of RegexData::category_runs.
constexpr std::array kCategories = {
    CategoryName{"lu", "uppercaseletter"},
    CategoryName{"ll", "lowercaseletter"},
    CategoryName{"lt", "titlecaseletter"},
    CategoryName{"lm", "modifierletter"},
    CategoryName{"lo", "otherletter"},
    CategoryName{"mn", "nonspacingmark"},
    CategoryName{"mc", "spacingmark"},
    CategoryName{"me", "enclosingmark"},
    CategoryName{"nd", "decimalnumber"},
    CategoryName{"nl", "letternumber"},
    CategoryName{"no", "othernumber"},
    CategoryName{"pc", "connectorpunctuation"},
    CategoryName{"pd", "dashpunctuation"},
    CategoryName{"ps", "openpunctuation"},
    CategoryName{"pe", "closepunctuation"},
    CategoryName{"pi", "initialpunctuation"},
    CategoryName{"pf", "finalpunctuation"},
    CategoryName{"po", "otherpunctuation"},
    CategoryName{"sm", "mathsymbol"},
    CategoryName{"sc", "currencysymbol"},
    CategoryName{"sk", "modifiersymbol"},
    CategoryName{"so", "othersymbol"},
    CategoryName{"zs", "spaceseparator"},
    CategoryName{"zl", "lineseparator"},
    CategoryName{"zp", "paragraphseparator"},
    CategoryName{"cc", "control"},
    CategoryName{"cf", "format"},
    CategoryName{"co", "privateuse"},
    CategoryName{"cn", "unassigned"},
};

constexpr std::array kGroups = {
    CategoryName{"l", "letter"},      CategoryName{"m", "mark"},   CategoryName{"n", "number"},
    CategoryName{"p", "punctuation"}, CategoryName{"s", "symbol"}, CategoryName{"z", "separator"},
    CategoryName{"c", "other"},
};

std::string simplified(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// The code points of the runs whose value satisfies `wanted`.
template <typename Wanted>
CodePointSet collect_runs(std::span<const std::uint32_t> runs, const Wanted& wanted) {
  CodePointSet set;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!wanted(runs[i] & 0xFFU)) continue;
    set.add(runs[i] >> 8, i + 1 < runs.size() ? (runs[i + 1] >> 8) - 1 : 0x10FFFF);
  }
  return set;
}

std::optional<CodePointSet> find_category(std::string_view name) {
  const auto& runs = unicode::regex_data().category_runs;
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    if (name != kCategories[i].name && name != kCategories[i].long_name) continue;
    return collect_runs(runs, [&](std::uint32_t value) { return value == i; });
  }
  for (const CategoryName& group : kGroups) {
    if (name != group.name && name != group.long_name) continue;
    return collect_runs(
        runs, [&](std::uint32_t value) { return kCategories[value].name[0] == group.name[0]; });
  }
  if (name != "lc" && name != "casedletter") return std::nullopt;
  return collect_runs(runs, [](std::uint32_t value) { return value < 3; });
}

std::optional<CodePointSet> find_script(std::string_view name) {
  const auto& data = unicode::regex_data();
  for (std::size_t i = 0; i < data.script_names.size(); ++i) {
    if (simplified(data.script_names[i]) != name) continue;
    return collect_runs(data.script_runs, [&](std::uint32_t value) { return value == i + 1; });
  }
  return std::nullopt;
}

CodePointSet entry_set(const unicode::PropertyEntry& entry) {
  const auto ranges = unicode::regex_data().property_ranges.subspan(entry.begin, entry.count);
  return CodePointSet({ranges.begin(), ranges.end()});
}

}  // namespace

std::optional<CodePointSet> find_property(std::string_view name) {
  const std::string simple = simplified(name);
  // POSIX names come before categories of the same name (punct is no category, punctuation is).
  for (const auto& entry : unicode::regex_data().properties) {
    if (simplified(entry.name) == simple) return entry_set(entry);
  }
  if (auto set = find_category(simple)) return set;
  return find_script(simple);
}

std::optional<CodePointSet> find_posix_class(std::string_view name) {
  constexpr std::array kNames = {"alnum", "alpha", "blank", "cntrl", "digit",  "graph", "lower",
                                 "print", "punct", "space", "upper", "xdigit", "word",  "ascii"};
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return std::nullopt;
  // Where [[:name:]] and \p{name} differ, the former has an entry of its own.
  const std::string bracket = fmt::format("[:{}:]", name);
  std::optional<CodePointSet> set;
  for (const auto& entry : unicode::regex_data().properties) {
    if (entry.name == bracket) return entry_set(entry);
    if (entry.name == name) set = entry_set(entry);
  }
  return set;
}

void close_over_case(CodePointSet& set) {
  std::vector<char32_t> added;
  for (const auto& pair : unicode::case_data().pairs) {
    if (set.contains(pair.code_point)) added.push_back(pair.other);
  }
  for (const char32_t c : added) set.add(c, c);
}

bool folds_to_several(char32_t c) {
  const auto folds = unicode::case_data().multiple_folds;
  return std::any_of(folds.begin(), folds.end(),
                     [&](const auto& fold) { return fold.code_point == c; });
}

bool contains_multiple_fold(std::u32string_view text) {
  // Compare with one representative per letter: the smallest that matches it.
  const auto representative = [](char32_t c) {
    char32_t smallest = c;
    for (const auto& pair : unicode::case_data().pairs) {
      if (pair.code_point == c) smallest = std::min(smallest, pair.other);
    }
    return smallest;
  };
  std::u32string folded;
  for (const char32_t c : text) folded += representative(c);
  for (const auto& fold : unicode::case_data().multiple_folds) {
    std::u32string sequence;
    for (const char32_t c : fold.sequence) {
      if (c != 0) sequence += representative(c);
    }
    if (folded.find(sequence) != std::u32string::npos) return true;
  }
  return false;
}

}  // namespace lattice::regex
