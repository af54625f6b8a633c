#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

/// The raw tables that tools/unicode/generate_tables.py writes. A "run" is
/// first code point << 8 | value and lasts until the next run; the first starts at 0.
namespace lattice::unicode {

struct FlagData {
  std::span<const std::uint16_t> sets;  ///< combinations of CodePointFlag
  std::span<const std::uint32_t> runs;  ///< values index `sets`
};
const FlagData& flag_data();

/// Every `stride`-th code point from `first` to `last` maps to itself plus `offset`.
struct CaseRule {
  char32_t first, last;
  std::uint32_t stride;
  std::int32_t offset;
};
std::span<const CaseRule> lowercase_rules();

struct CompositionEntry {
  char32_t first, second, composite;
};

/// Decompositions without those of Hangul syllables, which are computed. An index entry is
/// length << 24 | code point, sorted by code point; the texts follow one another in the pool.
struct NormalizationData {
  std::span<const std::uint32_t> canonical_index;
  std::span<const char32_t> canonical_pool;
  /// Only where the compatibility decomposition differs from the canonical one.
  std::span<const std::uint32_t> compatibility_index;
  std::span<const char32_t> compatibility_pool;
  std::span<const CompositionEntry> compositions;  ///< sorted by first, then second
  std::span<const std::uint32_t> combining_runs;   ///< canonical combining classes
};
const NormalizationData& normalization_data();

struct SegmentationData {
  std::span<const std::uint32_t> grapheme_runs;  ///< GraphemeClass | ConjunctClass << 4
  std::span<const std::uint32_t> script_runs;    ///< 0 for any, else a script's number
};
const SegmentationData& segmentation_data();

struct CodePointRange {
  char32_t first, last;
};

/// A named set: `count` ranges from `begin` in RegexData::property_ranges.
struct PropertyEntry {
  std::string_view name;
  std::uint32_t begin, count;
};

struct RegexData {
  std::span<const std::uint32_t> category_runs;  ///< values index kCategoryNames in order
  std::span<const std::uint32_t> script_runs;    ///< 0 for none, else 1 + index of script_names
  std::span<const std::string_view> script_names;
  std::span<const PropertyEntry> properties;
  std::span<const CodePointRange> property_ranges;
};
const RegexData& regex_data();

/// `other` matches `code_point` when case is ignored. Sorted; holds both directions.
struct CasePair {
  char32_t code_point, other;
};

/// `code_point` matches `sequence` (padded with 0) when case is ignored.
struct MultipleFold {
  char32_t code_point;
  char32_t sequence[3];
};

struct CaseData {
  std::span<const CasePair> pairs;
  std::span<const MultipleFold> multiple_folds;
};
const CaseData& case_data();

}  // namespace lattice::unicode
