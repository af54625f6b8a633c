#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/repr.h"

namespace lattice::jinja {
namespace {

std::uint32_t depth_of(const Value& input, const CallArgs& args) {
  std::uint32_t depth = input.depth();
  for (const Value& value : args.positional) depth = std::max(depth, value.depth());
  for (const auto& [name, value] : args.named) depth = std::max(depth, value.depth());
  return depth;
}

// `args` without the first `count` positional ones.
CallArgs rest_of(const CallArgs& args, std::size_t count) {
  CallArgs rest = args;
  const std::size_t num_dropped = std::min(count, rest.positional.size());
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() + static_cast<std::ptrdiff_t>(num_dropped));
  return rest;
}

// A cursor over the input, or over nothing when the input is false: jinja2 then yields nothing.
Cursor cursor_over(const Value& input) { return truthy(input) ? Cursor(input) : Cursor(Value()); }

Value map_attribute(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("map", args, {"attribute", "default"}, 1);
  const AttributePath path(bound.at(0));
  const Value fallback = bound.get(1, None{});
  Budget& budget = evaluator.budget();
  auto next = [&budget, path, fallback, cursor = cursor_over(input)](Value& item) mutable {
    if (!cursor.next(item)) return false;
    budget.step();
    item = path.follow(item, budget, fallback);
    return true;
  };
  return Value::generator(std::move(next), depth_of(input, args));
}

Value map(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const bool by_attribute =
      args.positional.empty() && std::any_of(args.named.begin(), args.named.end(),
                                             [](const auto& e) { return e.first == "attribute"; });
  if (by_attribute) return map_attribute(evaluator, input, args);
  if (args.positional.empty()) eval_fail("map requires a filter argument");
  auto next = [&evaluator, name = args.positional[0], rest = rest_of(args, 1),
               cursor = cursor_over(input)](Value& item) mutable {
    if (!cursor.next(item)) return false;
    item = evaluator.call_filter(name, item, rest);
    return true;
  };
  return Value::generator(std::move(next), depth_of(input, args));
}

// select, reject, selectattr and rejectattr.
template <bool kSelects, bool kByAttribute>
Value select(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  constexpr std::size_t kTest = kByAttribute ? 1 : 0;
  if (kByAttribute && args.positional.empty() && truthy(input)) {
    eval_fail("Missing parameter for attribute name");
  }
  const AttributePath path = kByAttribute && !args.positional.empty()
                                 ? AttributePath(args.positional[0])
                                 : AttributePath();
  const Value test = args.positional.size() > kTest ? args.positional[kTest] : Value(None{});
  auto next = [&evaluator, path, test, rest = rest_of(args, kTest + 1),
               cursor = cursor_over(input)](Value& item) mutable {
    while (cursor.next(item)) {
      evaluator.budget().step();
      const Value tested = path.follow(item, evaluator.budget());
      const bool holds = test.is_none() ? truthy(tested) : evaluator.call_test(test, tested, rest);
      if (holds == kSelects) return true;
    }
    return false;
  };
  return Value::generator(std::move(next), depth_of(input, args));
}

constexpr FilterEntry kFilters[] = {
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
};

}  // namespace

std::span<const FilterEntry> selection_filters() { return kFilters; }

}  // namespace lattice::jinja
