#include "text/jinja/sorting.h"

#include <algorithm>
#include <iterator>

#include "text/jinja/compare.h"

namespace lattice::jinja {
namespace {

// A merge sort of its own: keys such as NaN give no consistent order, which std::sort must not see.
class MergeSort {
 public:
  MergeSort(std::vector<Keyed>& items, Budget& budget)
      : items_(items), scratch_(items.size()), budget_(budget) {}

  void sort(std::size_t begin, std::size_t end) {
    if (end - begin < 2) return;
    const std::size_t middle = begin + (end - begin) / 2;
    sort(begin, middle);
    sort(middle, end);
    std::size_t left = begin;
    std::size_t right = middle;
    for (std::size_t i = begin; i < end; ++i) {
      const bool from_right = left == middle || (right < end && less(right, left));
      scratch_[i] = std::move(items_[from_right ? right++ : left++]);
    }
    std::move(scratch_.begin() + static_cast<std::ptrdiff_t>(begin),
              scratch_.begin() + static_cast<std::ptrdiff_t>(end),
              items_.begin() + static_cast<std::ptrdiff_t>(begin));
  }

 private:
  bool less(std::size_t a, std::size_t b) {
    const Value& left = items_[a].key;
    const Value& right = items_[b].key;
    budget_.step(std::min(left.weight(), right.weight()));
    return order(left, right) < 0;
  }

  std::vector<Keyed>& items_;
  std::vector<Keyed> scratch_;
  Budget& budget_;
};

}  // namespace

std::vector<Value> sorted(std::vector<Keyed> items, bool reverse, Budget& budget) {
  if (reverse) std::reverse(items.begin(), items.end());
  MergeSort(items, budget).sort(0, items.size());
  if (reverse) std::reverse(items.begin(), items.end());
  std::vector<Value> result;
  result.reserve(items.size());
  for (Keyed& keyed : items) result.push_back(std::move(keyed.item));
  return result;
}

}  // namespace lattice::jinja
