#include "text/jinja/subscript.h"

#include <algorithm>
#include <array>

#include "text/jinja/compare.h"
#include "text/jinja/loop_fields.h"
#include "text/jinja/repr.h"

namespace lattice::jinja {
namespace {

using Kind = Value::Kind;

// Methods that change the object: an immutable sandbox hides them.
constexpr std::array<std::string_view, 5> kDictMutators = {"clear", "pop", "popitem", "setdefault",
                                                           "update"};
constexpr std::array<std::string_view, 8> kListMutators = {"append", "clear",  "extend",  "insert",
                                                           "pop",    "remove", "reverse", "sort"};
// Python has them, lattice does not.
constexpr std::array<std::string_view, 6> kMissingTextMethods = {
    "casefold", "encode", "format_map", "isidentifier", "maketrans", "translate"};

template <std::size_t kSize>
bool is_one_of(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value unsafe(const Value& value, std::string_view name) {
  return Value::undefined(fmt::format("access to attribute {} of {} object is unsafe.", quote(name),
                                      quote(value.type_name())));
}

Value missing(const Value& value, const Value& key, Budget& budget) {
  const std::string type =
      value.is_none() ? std::string("None") : fmt::format("{} object", value.type_name());
  if (key.is_string()) {
    return Value::undefined(
        fmt::format("{} has no attribute {}", quote(type), quote(key.text().bytes())));
  }
  TextBuilder repr(budget);
  append_repr(repr, key);
  return Value::undefined(fmt::format("{} has no element {}", type, repr.take().bytes()));
}

std::optional<Value> object_field(const Value& value, std::string_view name) {
  Object& object = value.object();
  if (auto* space = std::get_if<Namespace>(&object.data)) {
    if (const Value* found = space->attributes.find(name)) return *found;
  } else if (std::holds_alternative<Loop>(object.data)) {
    return loop_field(value, name);
  } else if (auto* cycler = std::get_if<Cycler>(&object.data)) {
    if (name == "current" && !cycler->items.empty()) return cycler->items[cycler->position];
    if (const MethodEntry* entry = find_method(Kind::kObject, name)) {
      return make_method(*entry, value);
    }
  } else if (auto* macro = std::get_if<Macro>(&object.data)) {
    return macro_field(*macro, name);
  }
  return std::nullopt;
}

std::optional<Value> range_field(const Range& range, std::string_view name) {
  if (name == "start") return range.start;
  if (name == "stop") return range.stop;
  if (name == "step") return range.step;
  return std::nullopt;
}

// What getattr() finds in the sandbox, if anything.
std::optional<Value> field(const Value& value, std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4) return unsafe(value, name);
  if (value.is_dict() && is_one_of(kDictMutators, name)) return unsafe(value, name);
  if (value.is(Kind::kList) && is_one_of(kListMutators, name)) return unsafe(value, name);
  if (value.is_string() && is_one_of(kMissingTextMethods, name)) {
    raise(ErrorCode::kUnsupported, "[jinja] the method str.{} is not supported", name);
  }
  if (value.is(Kind::kObject)) return object_field(value, name);
  if (value.is(Kind::kTuple) && value.sequence().is_group) {
    if (name == "grouper") return value.sequence().items[0];
    if (name == "list") return value.sequence().items[1];
  }
  if (value.is(Kind::kRange)) {
    if (auto found = range_field(value.range(), name)) return found;
  }
  if (const MethodEntry* entry = find_method(value.kind(), name)) {
    return make_method(*entry, value);
  }
  return std::nullopt;
}

// An index counted from the end when negative, if it is inside.
std::optional<std::size_t> position(const Value& key, std::size_t size) {
  if (!key.is_integer()) return std::nullopt;
  std::int64_t index = key.integer();
  if (index < 0) index += static_cast<std::int64_t>(size);
  if (index < 0 || static_cast<std::uint64_t>(index) >= size) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// What value[key] finds, if anything.
std::optional<Value> item(const Value& value, const Value& key, Budget& budget) {
  switch (value.kind()) {
    case Kind::kDict: {
      if (!is_hashable(key)) return std::nullopt;
      budget.step(key.weight());
      const Value* found = value.dict().find(key);
      return found != nullptr ? std::optional(*found) : std::nullopt;
    }
    case Kind::kList:
    case Kind::kTuple: {
      const auto& items = value.sequence().items;
      const auto at = position(key, items.size());
      return at ? std::optional(items[*at]) : std::nullopt;
    }
    case Kind::kString: {
      const Text& text = value.text();
      const auto at = position(key, text.length());
      if (!at) return std::nullopt;
      return Value(text.slice_bytes(text.byte_of(*at), text.byte_of(*at + 1)));
    }
    case Kind::kRange: {
      const auto at = position(key, value.range().size);
      return at ? std::optional(range_item(value.range(), *at)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Value get_attribute(const Value& value, std::string_view name, Budget& budget) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (auto found = field(value, name)) return *found;
  const Value key = Value::string(name);
  if (auto found = item(value, key, budget)) return *found;
  return missing(value, key, budget);
}

Value get_own_attribute(const Value& value, std::string_view name, Budget& budget) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (auto found = field(value, name)) return *found;
  return missing(value, Value::string(name), budget);
}

Value get_item(const Value& value, const Value& key, Budget& budget) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (auto found = item(value, key, budget)) return *found;
  if (key.is_string()) {
    if (auto found = field(value, key.text().bytes())) return *found;
  }
  return missing(value, key, budget);
}

}  // namespace lattice::jinja
