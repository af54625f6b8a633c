#include "text/jinja/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/jinja/iterate.h"
#include "text/jinja/object.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {
namespace {

using Kind = Value::Kind;
constexpr double kTwo63 = 9223372036854775808.0;

// Exact, also where a double cannot hold the integer.
std::partial_ordering order_mixed(std::int64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= kTwo63) return std::partial_ordering::less;
  if (b < -kTwo63) return std::partial_ordering::greater;
  const double whole = std::floor(b);
  const auto integer = static_cast<std::int64_t>(whole);
  if (a != integer) return a <=> integer;
  return whole < b ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

std::partial_ordering order_numbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() <=> b.integer();
  if (a.is_integer()) return order_mixed(a.integer(), b.real());
  if (b.is_integer()) return 0 <=> order_mixed(b.integer(), a.real());
  return a.real() <=> b.real();
}

bool equal_sequences(const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other != nullptr && equal(entry.second, *other);
  });
}

bool equal_ranges(const Range& a, const Range& b) {
  if (a.size != b.size) return false;
  return a.size == 0 || (a.start == b.start && (a.size == 1 || a.step == b.step));
}

bool equal_views(const DictView& a, const DictView& b) {
  if (a.part != b.part || a.part == DictView::Part::kValues) return false;
  if (a.part == DictView::Part::kItems) return equal_dicts(*a.dict, *b.dict);
  return a.dict->size() == b.dict->size() &&
         std::all_of(
             a.dict->entries().begin(), a.dict->entries().end(),
             [&](const Dict::Entry& entry) { return b.dict->find(entry.first) != nullptr; });
}

std::size_t mix(std::size_t seed, std::size_t hash) {
  return (seed ^ hash) * 0x9E3779B97F4A7C15ULL + (seed >> 29);
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString:
      return a.text() == b.text();
    case Kind::kList:
    case Kind::kTuple:
      return equal_sequences(a.sequence(), b.sequence());
    case Kind::kDict:
      return equal_dicts(a.dict(), b.dict());
    case Kind::kRange:
      return equal_ranges(a.range(), b.range());
    case Kind::kView:
      return equal_views(a.view(), b.view());
    default:
      return a.same_as(b);
  }
}

std::partial_ordering order(const Value& a, const Value& b, std::string_view op) {
  if (a.is_number() && b.is_number()) return order_numbers(a, b);
  if (a.is_string() && b.is_string()) return a.text().bytes() <=> b.text().bytes();
  if (a.is_sequence() && a.kind() == b.kind()) {
    const auto& left = a.sequence().items;
    const auto& right = b.sequence().items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (!equal(left[i], right[i])) return order(left[i], right[i], op);
    }
    return left.size() <=> right.size();
  }
  if (a.is_undefined()) eval_fail("{}", a.undefined_message());
  if (b.is_undefined()) eval_fail("{}", b.undefined_message());
  eval_fail("'{}' not supported between instances of '{}' and '{}'", op, a.type_name(),
            b.type_name());
}

bool is_hashable(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kDict:
      return false;
    case Kind::kView:
      return value.view().part == DictView::Part::kValues;
    case Kind::kTuple:
      return std::all_of(value.sequence().items.begin(), value.sequence().items.end(), is_hashable);
    default:
      return true;
  }
}

std::size_t hash_value(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kInt:
      return mix(1, static_cast<std::size_t>(value.integer()));
    case Kind::kFloat: {
      const double number = value.real();
      if (number >= -kTwo63 && number < kTwo63 && number == std::floor(number)) {
        return mix(1, static_cast<std::size_t>(static_cast<std::int64_t>(number)));
      }
      return mix(2, std::hash<double>()(number));
    }
    case Kind::kString:
      return std::hash<std::string_view>()(value.text().bytes());
    case Kind::kTuple: {
      std::size_t hash = 3;
      for (const Value& item : value.sequence().items) hash = mix(hash, hash_value(item));
      return hash;
    }
    case Kind::kRange:
      return mix(4, value.range().size);
    case Kind::kGenerator:
      return std::hash<const void*>()(&value.generator());
    case Kind::kObject:
      return std::hash<const void*>()(&value.object());
    default:
      return static_cast<std::size_t>(value.kind());
  }
}

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return value.boolean();
    case Kind::kInt:
      return value.integer() != 0;
    case Kind::kFloat:
      return value.real() != 0;
    case Kind::kGenerator:
      return true;
    case Kind::kObject:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
      return size_of(value).value_or(1) != 0;
  }
  return true;
}

bool contains(const Value& container, const Value& item, Budget& budget) {
  budget.step(item.weight());
  switch (container.kind()) {
    case Kind::kString:
      if (!item.is_string()) {
        eval_fail("'in <string>' requires string as left operand, not {}", item.type_name());
      }
      budget.step_bytes(container.text().size());
      return find_bytes(container.text().bytes(), item.text().bytes(), 0) != kNotFound;
    case Kind::kDict:
      if (!is_hashable(item)) eval_fail("unhashable type: '{}'", item.type_name());
      return container.dict().find(item) != nullptr;
    case Kind::kView:
      if (container.view().part == DictView::Part::kKeys) {
        if (!is_hashable(item)) eval_fail("unhashable type: '{}'", item.type_name());
        return container.view().dict->find(item) != nullptr;
      }
      break;
    case Kind::kObject:
      eval_fail("argument of type '{}' is not iterable", container.type_name());
    default:
      break;
  }
  if (!is_iterable(container)) {
    eval_fail("argument of type '{}' is not iterable", container.type_name());
  }
  Cursor cursor(container);
  Value candidate;
  while (cursor.next(candidate)) {
    budget.step(std::min(candidate.weight(), item.weight()));
    if (equal(candidate, item)) return true;
  }
  return false;
}

}  // namespace lattice::jinja
