#pragma once

#include <span>
#include <vector>

#include "text/unicode/tables.h"

namespace lattice::regex {

using unicode::CodePointRange;

/// A set of code points as sorted, disjoint, non-adjacent ranges.
class CodePointSet {
 public:
  CodePointSet() = default;
  explicit CodePointSet(std::vector<CodePointRange> ranges);

  static CodePointSet all();

  void add(char32_t first, char32_t last);
  void add(const CodePointSet& other);
  CodePointSet complement() const;
  CodePointSet intersection(const CodePointSet& other) const;

  bool contains(char32_t c) const;
  bool empty() const { return ranges().empty(); }
  /// Sorted and disjoint.
  std::span<const CodePointRange> ranges() const;

 private:
  void normalize() const;

  // Kept unsorted while ranges are added; sorted when first read.
  mutable std::vector<CodePointRange> ranges_;
  mutable bool sorted_ = true;
};

}  // namespace lattice::regex
