#include <algorithm>
#include <map>

#include "text/jinja/arguments.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/repr.h"
#include "text/jinja/strftime.h"

namespace lattice::jinja {
namespace {

// The number of values from start by step before stop.
std::uint64_t range_size(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  if (step > 0)
    return start < stop ? (distance(start, stop) - 1) / static_cast<std::uint64_t>(step) + 1 : 0;
  const std::uint64_t down = 0 - static_cast<std::uint64_t>(step);
  return stop < start ? (distance(stop, start) - 1) / down + 1 : 0;
}

Value range(Evaluator& evaluator, const CallArgs& args) {
  if (!args.named.empty()) eval_fail("range() takes no keyword arguments");
  const auto& values = args.positional;
  if (values.empty() || values.size() > 3) {
    eval_fail("range expected 1 to 3 arguments, got {}", values.size());
  }
  Range range;
  range.stop = require_integer(values[values.size() == 1 ? 0 : 1]);
  if (values.size() > 1) range.start = require_integer(values[0]);
  if (values.size() > 2) range.step = require_integer(values[2]);
  if (range.step == 0) eval_fail("range() arg 3 must not be zero");
  range.size = range_size(range.start, range.stop, range.step);
  const std::uint64_t limit = evaluator.budget().limits().range_size;
  if (range.size > limit) Budget::exceeded("range_size", limit);
  return std::make_shared<const Range>(range);
}

void set_pairs(Dict& dict, const Value& source, Budget& budget) {
  if (source.is_dict()) {
    budget.step(source.dict().size());
    for (const auto& [key, value] : source.dict().entries()) dict.set(key, value);
    return;
  }
  for (const Value& pair : to_items(source, budget)) {
    const auto items = to_items(pair, budget);
    if (items.size() != 2) {
      eval_fail("dictionary update sequence element has length {}; 2 is required", items.size());
    }
    if (!is_hashable(items[0])) eval_fail("unhashable type: '{}'", items[0].type_name());
    budget.step(items[0].weight());
    dict.set(items[0], items[1]);
  }
}

Dict make_dict(Evaluator& evaluator, const CallArgs& args) {
  if (args.positional.size() > 1) {
    eval_fail("dict expected at most 1 argument, got {}", args.positional.size());
  }
  Dict dict;
  if (!args.positional.empty()) set_pairs(dict, args.positional[0], evaluator.budget());
  for (const auto& [name, value] : args.named) dict.set(Value::string(name), value);
  return dict;
}

Value dict(Evaluator& evaluator, const CallArgs& args) {
  return std::make_shared<const Dict>(make_dict(evaluator, args));
}

Value make_namespace(Evaluator& evaluator, const CallArgs& args) {
  Dict attributes = make_dict(evaluator, args);
  for (const auto& [key, value] : attributes.entries()) {
    if (key.is_string() && key.text().bytes().starts_with('_')) {
      eval_fail("a namespace cannot have the attribute {}", quote(key.text().bytes()));
    }
  }
  return evaluator.make_namespace(std::move(attributes));
}

Value cycler(Evaluator&, const CallArgs& args) {
  if (!args.named.empty()) eval_fail("cycler() takes no keyword arguments");
  if (args.positional.empty()) eval_fail("at least one item has to be provided");
  const std::uint32_t depth = depth_above(args.positional);
  return std::make_shared<Object>(Object{Cycler{args.positional}, depth});
}

Value joiner(Evaluator& evaluator, const CallArgs& args) {
  const Bound bound("joiner", args, {"sep"});
  const Text separator = to_text(bound.get(0, Text(", ")), evaluator.budget());
  return std::make_shared<Object>(Object{Joiner{separator}});
}

Value raise_exception(Evaluator& evaluator, const CallArgs& args) {
  const Bound bound("raise_exception", args, {"message"}, 1);
  const Text message = to_text(bound.at(0), evaluator.budget());
  throw LatticeError(ErrorCode::kInvalidArgument, std::string(message.bytes()));
}

Value strftime_now(Evaluator& evaluator, const CallArgs& args) {
  const Bound bound("strftime_now", args, {"format"}, 1);
  return format_time(require_text(bound.at(0)), evaluator.now(), evaluator.budget());
}

}  // namespace

const FilterEntry* find_filter(std::string_view name) {
  for (const auto& entries :
       {text_filters(), layout_filters(), number_filters(), sequence_filters(), ordering_filters(),
        selection_filters(), json_filters()}) {
    for (const FilterEntry& entry : entries) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

const Value* find_function(std::string_view name) {
  static const std::map<std::string_view, Value> kFunctions = [] {
    std::map<std::string_view, Value> functions;
    const std::pair<std::string_view, FunctionCode> entries[] = {
        {"cycler", cycler},
        {"dict", dict},
        {"joiner", joiner},
        {"namespace", make_namespace},
        {"range", range},
        {"raise_exception", raise_exception},
        {"strftime_now", strftime_now}};
    for (const auto& [key, code] : entries) functions.emplace(key, make_function(key, code));
    return functions;
  }();
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() ? nullptr : &found->second;
}

}  // namespace lattice::jinja
