#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/repr.h"
#include "text/jinja/string_methods.h"
#include "text/jinja/subscript.h"

namespace lattice::jinja {
namespace {

Value dict_get(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  if (!args.named.empty()) eval_fail("dict.get() takes no keyword arguments");
  const Bound bound("get", args, {"key", "default"}, 1);
  if (!is_hashable(bound.at(0))) eval_fail("unhashable type: '{}'", bound.at(0).type_name());
  evaluator.budget().step(bound.at(0).weight());
  const Value* found = self.dict().find(bound.at(0));
  return found != nullptr ? *found : bound.get(1, None{});
}

template <DictView::Part kPart>
Value dict_view(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("view", args, {});
  return DictView{self.shared_dict(), kPart};
}

Value copy(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("copy", args, {});
  return self;
}

Value sequence_index(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("index", args, {"value", "start", "stop"}, 1);
  const auto& items = self.sequence().items;
  const auto size = static_cast<std::int64_t>(items.size());
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t stop = clamp(bound.integer(2, size));
  for (std::int64_t i = clamp(bound.integer(1, 0)); i < stop; ++i) {
    const Value& item = items[static_cast<std::size_t>(i)];
    evaluator.budget().step(std::min(item.weight(), bound.at(0).weight()));
    if (equal(item, bound.at(0))) return i;
  }
  eval_fail("the value is not in the {}", self.type_name());
}

Value sequence_count(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("count", args, {"value"}, 1);
  std::int64_t count = 0;
  for (const Value& item : self.sequence().items) {
    evaluator.budget().step(std::min(item.weight(), bound.at(0).weight()));
    if (equal(item, bound.at(0))) ++count;
  }
  return count;
}

std::optional<std::int64_t> find_in_range(const Range& range, const Value& value, Budget& budget) {
  for (std::size_t i = 0; i < range.size; ++i) {
    budget.step();
    if (equal(range_item(range, i), value)) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

Value range_index(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("index", args, {"value"}, 1);
  const auto found = find_in_range(self.range(), bound.at(0), evaluator.budget());
  if (!found) eval_fail("the value is not in range");
  return *found;
}

Value range_count(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  const Bound bound("count", args, {"value"}, 1);
  const auto found = find_in_range(self.range(), bound.at(0), evaluator.budget());
  return std::int64_t{found ? 1 : 0};
}

Value cycler_next(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("next", args, {});
  Cycler& cycler = std::get<Cycler>(self.object().data);
  Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Value cycler_reset(Evaluator&, const Value& self, const CallArgs& args) {
  const Bound bound("reset", args, {});
  std::get<Cycler>(self.object().data).position = 0;
  return None{};
}

constexpr MethodEntry kDictMethods[] = {
    {"copy", copy},
    {"get", dict_get},
    {"items", dict_view<DictView::Part::kItems>},
    {"keys", dict_view<DictView::Part::kKeys>},
    {"values", dict_view<DictView::Part::kValues>},
};
constexpr MethodEntry kListMethods[] = {
    {"copy", copy}, {"count", sequence_count}, {"index", sequence_index}};
constexpr MethodEntry kTupleMethods[] = {{"count", sequence_count}, {"index", sequence_index}};
constexpr MethodEntry kRangeMethods[] = {{"count", range_count}, {"index", range_index}};
constexpr MethodEntry kCyclerMethods[] = {{"next", cycler_next}, {"reset", cycler_reset}};

const MethodEntry* search(std::span<const MethodEntry> entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const MethodEntry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const MethodEntry* find_method(Value::Kind kind, std::string_view name) {
  switch (kind) {
    case Value::Kind::kString:
      return search(string_methods(), name);
    case Value::Kind::kDict:
      return search(kDictMethods, name);
    case Value::Kind::kList:
      return search(kListMethods, name);
    case Value::Kind::kTuple:
      return search(kTupleMethods, name);
    case Value::Kind::kRange:
      return search(kRangeMethods, name);
    case Value::Kind::kObject:
      return search(kCyclerMethods, name);
    default:
      return nullptr;
  }
}

}  // namespace lattice::jinja
