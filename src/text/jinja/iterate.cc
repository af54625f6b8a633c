#include "text/jinja/iterate.h"

#include <algorithm>

#include "text/jinja/object.h"
#include "text/utf8.h"

namespace lattice::jinja {

using Kind = Value::Kind;

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kGenerator:
      return true;
    default:
      return false;
  }
}

Cursor::Cursor(Value source) : source_(std::move(source)) {
  if (!is_iterable(source_)) eval_fail("'{}' object is not iterable", source_.type_name());
}

bool Cursor::next(Value& item) {
  switch (source_.kind()) {
    case Kind::kString: {
      const Text& text = source_.text();
      if (at_ >= text.size()) return false;
      const std::size_t begin = at_;
      at_ += utf8_length(text.bytes()[begin]);
      item = text.slice_bytes(begin, at_);
      return true;
    }
    case Kind::kList:
    case Kind::kTuple:
      if (at_ >= source_.sequence().items.size()) return false;
      item = source_.sequence().items[at_++];
      return true;
    case Kind::kDict:
      if (at_ >= source_.dict().size()) return false;
      item = source_.dict().entries()[at_++].first;
      return true;
    case Kind::kRange:
      if (at_ >= source_.range().size) return false;
      item = range_item(source_.range(), at_++);
      return true;
    case Kind::kView:
      if (at_ >= source_.view().dict->size()) return false;
      item = view_item(source_.view(), at_++);
      return true;
    case Kind::kGenerator:
      return source_.generator().next(item);
    default:
      return false;
  }
}

std::optional<std::size_t> size_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return value.text().length();
    case Kind::kList:
    case Kind::kTuple:
      return value.sequence().items.size();
    case Kind::kDict:
      return value.dict().size();
    case Kind::kRange:
      return value.range().size;
    case Kind::kView:
      return value.view().dict->size();
    case Kind::kObject:
      if (Loop* loop = std::get_if<Loop>(&value.object().data)) {
        return static_cast<std::size_t>(loop->length());
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Value view_item(const DictView& view, std::size_t index) {
  const auto& [key, value] = view.dict->entries()[index];
  switch (view.part) {
    case DictView::Part::kKeys:
      return key;
    case DictView::Part::kValues:
      return value;
    case DictView::Part::kItems:
      return Value::tuple({key, value});
  }
  return {};
}

Value range_item(const Range& range, std::size_t index) {
  return range.start + static_cast<std::int64_t>(index) * range.step;
}

std::vector<Value> to_items(const Value& value, Budget& budget) {
  std::vector<Value> items;
  if (const auto size = size_of(value)) {
    budget.step(*size);
    items.reserve(*size);
  }
  Cursor cursor(value);
  Value item;
  while (cursor.next(item)) {
    if (value.is(Kind::kGenerator)) budget.step();
    items.push_back(item);
  }
  return items;
}

namespace {

Value item_at(const Value& value, std::size_t index) {
  switch (value.kind()) {
    case Kind::kDict:
      return value.dict().entries()[index].first;
    case Kind::kRange:
      return range_item(value.range(), index);
    case Kind::kView:
      return view_item(value.view(), index);
    default:
      return value.sequence().items[index];
  }
}

}  // namespace

Value reversed(const Value& value, Budget& budget) {
  Value source = value;
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
      source = Value::list(to_items(value, budget));
      break;
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
      break;
    default:
      eval_fail("'{}' object is not reversible", value.type_name());
  }
  auto next = [source, left = *size_of(source)](Value& item) mutable {
    if (left == 0) return false;
    item = item_at(source, --left);
    return true;
  };
  return Value::generator(std::move(next), value.depth());
}

}  // namespace lattice::jinja
