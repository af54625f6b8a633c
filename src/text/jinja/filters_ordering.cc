#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/sorting.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {
namespace {

// The keys of jinja2's sort: a list of attributes separated by commas, each a path.
Value multiple_key(const std::vector<AttributePath>& paths, const Value& item, bool case_sensitive,
                   Budget& budget) {
  std::vector<Value> keys;
  for (const AttributePath& path : paths) {
    const Value key = path.follow(item, budget);
    keys.push_back(case_sensitive ? key : ignore_case(key, budget));
  }
  return Value::list(std::move(keys));
}

Value sort(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("sort", args, {"reverse", "case_sensitive", "attribute"});
  Budget& budget = evaluator.budget();
  const Value attribute = bound.get(2, None{});
  std::vector<AttributePath> paths;
  if (attribute.is_string()) {
    for (const Text& part : split(attribute.text(), ",", -1)) paths.emplace_back(Value(part));
  } else {
    paths.emplace_back(attribute);
  }
  const bool case_sensitive = bound.flag(1, false);
  std::vector<Keyed> items;
  for (Value& item : to_items(input, budget)) {
    Value key = multiple_key(paths, item, case_sensitive, budget);
    items.push_back({std::move(key), std::move(item)});
  }
  return Value::list(sorted(std::move(items), bound.flag(0, false), budget));
}

Value dictsort(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("dictsort", args, {"case_sensitive", "by", "reverse"});
  Budget& budget = evaluator.budget();
  const Text by = bound.text(1, "key");
  if (by.bytes() != "key" && by.bytes() != "value") {
    eval_fail("You can only sort by either \"key\" or \"value\"");
  }
  if (input.is_undefined()) eval_fail("{}", input.undefined_message());
  if (!input.is_dict()) eval_fail("'{}' object has no attribute 'items'", input.type_name());
  std::vector<Keyed> items;
  for (const auto& [key, value] : input.dict().entries()) {
    const Value& sort_key = by.bytes() == "key" ? key : value;
    items.push_back({bound.flag(0, false) ? sort_key : ignore_case(sort_key, budget),
                     Value::tuple({key, value})});
  }
  return Value::list(sorted(std::move(items), bound.flag(2, false), budget));
}

Value groupby(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("groupby", args, {"attribute", "default", "case_sensitive"}, 1);
  Budget& budget = evaluator.budget();
  const AttributePath path(bound.at(0));
  const Value fallback = bound.get(1, None{});
  const bool case_sensitive = bound.flag(2, false);
  const auto key_of = [&](const Value& item) {
    const Value key = path.follow(item, budget, fallback);
    return case_sensitive ? key : ignore_case(key, budget);
  };
  std::vector<Keyed> keyed;
  for (Value& item : to_items(input, budget)) {
    Value key = key_of(item);
    keyed.push_back({std::move(key), std::move(item)});
  }
  std::vector<Value> groups;
  std::vector<Value> members;
  Value key;
  const auto close = [&] {
    if (members.empty()) return;
    const Value shown = case_sensitive ? key : path.follow(members[0], budget, fallback);
    groups.push_back(Value::group(shown, Value::list(std::move(members))));
    members.clear();
  };
  for (Value& item : sorted(std::move(keyed), false, budget)) {
    Value item_key = key_of(item);
    budget.step(item_key.weight());
    if (!members.empty() && !equal(item_key, key)) close();
    key = std::move(item_key);
    members.push_back(std::move(item));
  }
  close();
  return Value::list(std::move(groups));
}

Value unique(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("unique", args, {"case_sensitive", "attribute"});
  Budget& budget = evaluator.budget();
  const AttributePath path(bound.get(1, None{}));
  auto next = [&budget, path, case_sensitive = bound.flag(0, false), cursor = Cursor(input),
               seen = Dict()](Value& item) mutable {
    while (cursor.next(item)) {
      Value key = path.follow(item, budget);
      if (!case_sensitive) key = ignore_case(key, budget);
      if (!is_hashable(key)) eval_fail("unhashable type: '{}'", key.type_name());
      budget.step(key.weight());
      if (seen.find(key) != nullptr) continue;
      seen.set(std::move(key), None{});
      return true;
    }
    return false;
  };
  return Value::generator(std::move(next), input.depth());
}

template <bool kIsMax>
Value extreme(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound(kIsMax ? "max" : "min", args, {"case_sensitive", "attribute"});
  Budget& budget = evaluator.budget();
  const AttributePath path(bound.get(1, None{}));
  const bool case_sensitive = bound.flag(0, false);
  Cursor cursor(input);
  Value best;
  if (!cursor.next(best)) return Value::undefined("No aggregated item, sequence was empty.");
  const auto key_of = [&](const Value& item) {
    const Value key = path.follow(item, budget);
    return case_sensitive ? key : ignore_case(key, budget);
  };
  Value best_key = key_of(best);
  Value item;
  while (cursor.next(item)) {
    Value key = key_of(item);
    budget.step(std::min(key.weight(), best_key.weight()));
    const bool better = kIsMax ? order(key, best_key, ">") > 0 : order(key, best_key) < 0;
    if (!better) continue;
    best = item;
    best_key = std::move(key);
  }
  return best;
}

constexpr FilterEntry kFilters[] = {
    {"dictsort", dictsort},  {"groupby", groupby}, {"max", extreme<true>},
    {"min", extreme<false>}, {"sort", sort},       {"unique", unique},
};

}  // namespace

std::span<const FilterEntry> ordering_filters() { return kFilters; }

}  // namespace lattice::jinja
