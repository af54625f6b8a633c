#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/repr.h"
#include "text/jinja/subscript.h"

namespace lattice::jinja {
namespace {

Value length(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("length", args, {});
  const auto size = size_of(input);
  if (!size) eval_fail("object of type '{}' has no len()", input.type_name());
  return Value::number(*size);
}

Value list(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("list", args, {});
  return Value::list(to_items(input, evaluator.budget()));
}

Value first(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("first", args, {});
  Cursor cursor(input);
  Value item;
  if (cursor.next(item)) return item;
  return Value::undefined("No first item, sequence was empty.");
}

Value last(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("last", args, {});
  if (input.is_string() && !input.text().empty()) {
    const Text& text = input.text();
    return text.slice_bytes(text.byte_of(text.length() - 1), text.size());
  }
  Cursor cursor(reversed(input, evaluator.budget()));
  Value item;
  if (cursor.next(item)) return item;
  return Value::undefined("No last item, sequence was empty.");
}

Value reverse(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("reverse", args, {});
  Budget& budget = evaluator.budget();
  if (input.is_string()) {
    return slice(input, None{}, None{}, Value(std::int64_t{-1}), budget);
  }
  if (!input.is(Value::Kind::kGenerator)) return reversed(input, budget);
  auto items = to_items(input, budget);
  std::reverse(items.begin(), items.end());
  return Value::list(std::move(items));
}

Value join(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("join", args, {"d", "attribute"});
  Budget& budget = evaluator.budget();
  const AttributePath path(bound.get(1, None{}));
  const Text separator = to_text(bound.get(0, Text()), budget);
  TextBuilder out(budget);
  Cursor cursor(input);
  Value item;
  for (bool is_first = true; cursor.next(item); is_first = false) {
    budget.step();
    if (!is_first) out.append(separator);
    append_str(out, path.follow(item, budget));
  }
  return out.take();
}

Value items(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("items", args, {});
  auto next = [input, at = std::size_t{0}](Value& item) mutable {
    if (input.is_undefined()) return false;
    if (!input.is_dict()) eval_fail("Can only get item pairs from a mapping.");
    if (at >= input.dict().size()) return false;
    item = view_item({input.shared_dict(), DictView::Part::kItems}, at++);
    return true;
  };
  return Value::generator(std::move(next), input.depth());
}

Value batch(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("batch", args, {"linecount", "fill_with"}, 1);
  const std::int64_t count = bound.integer(0, 0);
  const Value fill = bound.get(1, None{});
  Budget& budget = evaluator.budget();
  auto next = [&budget, count, fill, cursor = Cursor(input),
               held = std::optional<Value>()](Value& item) mutable {
    std::vector<Value> line;
    if (held) line.push_back(std::move(*held));
    held.reset();
    Value one;
    while (cursor.next(one)) {
      budget.step();
      if (static_cast<std::int64_t>(line.size()) == count) {
        // jinja2 gives an empty first batch for a count of 0 and never ends a negative one.
        held = std::move(one);
        item = Value::list(std::move(line));
        return true;
      }
      line.push_back(one);
    }
    if (line.empty()) return false;
    if (!fill.is_none() && count > static_cast<std::int64_t>(line.size())) {
      budget.check_repeat(static_cast<std::uint64_t>(count), sizeof(Value));
      budget.step(static_cast<std::uint64_t>(count));
      line.resize(static_cast<std::size_t>(count), fill);
    }
    item = Value::list(std::move(line));
    return true;
  };
  return Value::generator(std::move(next), std::max(input.depth(), fill.depth()));
}

Value slice_filter(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("slice", args, {"slices", "fill_with"}, 1);
  const std::int64_t slices = bound.integer(0, 0);
  const Value fill = bound.get(1, None{});
  const Value all = Value::list(to_items(input, evaluator.budget()));
  if (slices == 0) eval_fail("integer division or modulo by zero");
  Budget& budget = evaluator.budget();
  auto next = [&budget, all, slices, fill, number = std::int64_t{0}](Value& item) mutable {
    if (number >= slices) return false;
    const auto& source = all.sequence().items;
    const auto size = static_cast<std::int64_t>(source.size());
    const std::int64_t each = size / slices;
    const std::int64_t longer = size % slices;
    const std::int64_t begin = number * each + std::min(number, longer);
    const std::int64_t end = begin + each + (number < longer ? 1 : 0);
    budget.step(static_cast<std::uint64_t>(end - begin) + 1);
    std::vector<Value> part(source.begin() + begin, source.begin() + end);
    if (!fill.is_none() && number >= longer) part.push_back(fill);
    ++number;
    item = Value::list(std::move(part));
    return true;
  };
  return Value::generator(std::move(next), std::max(all.depth(), fill.depth()));
}

Value sum(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("sum", args, {"attribute", "start"});
  Budget& budget = evaluator.budget();
  const AttributePath path(bound.get(0, None{}));
  Value total = bound.get(1, std::int64_t{0});
  if (total.is_string()) eval_fail("sum() can't sum strings [use ''.join(seq) instead]");
  Cursor cursor(input);
  Value item;
  while (cursor.next(item)) {
    budget.step();
    total = binary(BinaryOp::kAdd, total, path.follow(item, budget), budget);
  }
  return total;
}

Value attr(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("attr", args, {"name"}, 1);
  const Text& name = require_text(bound.at(0));
  return get_own_attribute(input, name.bytes(), evaluator.budget());
}

constexpr FilterEntry kFilters[] = {
    {"attr", attr},   {"batch", batch},     {"count", length},       {"first", first},
    {"items", items}, {"join", join},       {"last", last},          {"length", length},
    {"list", list},   {"reverse", reverse}, {"slice", slice_filter}, {"sum", sum},
};

}  // namespace

std::span<const FilterEntry> sequence_filters() { return kFilters; }

}  // namespace lattice::jinja
