#include "text/regex/code_point_set.h"

#include <algorithm>

namespace lattice::regex {
namespace {

constexpr char32_t kLast = 0x10FFFF;

}  // namespace

CodePointSet::CodePointSet(std::vector<CodePointRange> ranges)
    : ranges_(std::move(ranges)), sorted_(false) {}

CodePointSet CodePointSet::all() { return CodePointSet({{0, kLast}}); }

void CodePointSet::add(char32_t first, char32_t last) {
  ranges_.push_back({first, last});
  sorted_ = false;
}

void CodePointSet::add(const CodePointSet& other) {
  const auto added = other.ranges();
  ranges_.insert(ranges_.end(), added.begin(), added.end());
  sorted_ = false;
}

std::span<const CodePointRange> CodePointSet::ranges() const {
  normalize();
  return ranges_;
}

void CodePointSet::normalize() const {
  if (sorted_) return;
  std::sort(ranges_.begin(), ranges_.end(),
            [](const CodePointRange& a, const CodePointRange& b) { return a.first < b.first; });
  std::size_t size = 0;
  for (const CodePointRange range : ranges_) {
    if (size > 0 && range.first <= ranges_[size - 1].last + 1) {
      ranges_[size - 1].last = std::max(ranges_[size - 1].last, range.last);
    } else {
      ranges_[size++] = range;
    }
  }
  ranges_.resize(size);
  sorted_ = true;
}

CodePointSet CodePointSet::complement() const {
  std::vector<CodePointRange> result;
  char32_t next = 0;
  for (const CodePointRange range : ranges()) {
    if (range.first > next) result.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) result.push_back({next, kLast});
  return CodePointSet(std::move(result));
}

CodePointSet CodePointSet::intersection(const CodePointSet& other) const {
  const auto a = ranges();
  const auto b = other.ranges();
  std::vector<CodePointRange> result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const char32_t first = std::max(a[i].first, b[j].first);
    const char32_t last = std::min(a[i].last, b[j].last);
    if (first <= last) result.push_back({first, last});
    if (a[i].last < b[j].last) {
      ++i;
    } else {
      ++j;
    }
  }
  return CodePointSet(std::move(result));
}

bool CodePointSet::contains(char32_t c) const {
  const auto all = ranges();
  const auto after = std::upper_bound(
      all.begin(), all.end(), c,
      [](char32_t value, const CodePointRange& range) { return value < range.first; });
  return after != all.begin() && c <= std::prev(after)->last;
}

}  // namespace lattice::regex
