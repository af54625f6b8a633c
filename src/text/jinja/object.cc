#include "text/jinja/object.h"

namespace lattice::jinja {

bool Loop::next(Value& item) {
  if (after) {
    item = std::move(*after);
    after.reset();
  } else if (!cursor.next(item)) {
    return false;
  }
  ++index0;
  before = std::move(current);
  current = item;
  return true;
}

bool Loop::peek() {
  if (after) return true;
  Value item;
  if (!cursor.next(item)) return false;
  after = std::move(item);
  return true;
}

std::int64_t Loop::length() {
  if (!known_size) {
    std::vector<Value> rest;
    Value item;
    while (cursor.next(item)) rest.push_back(item);
    known_size = rest.size() + static_cast<std::size_t>(index0 + 1) + (after ? 1 : 0);
    cursor = Cursor(Value::list(std::move(rest)));
  }
  return static_cast<std::int64_t>(*known_size);
}

std::string_view object_type_name(const Object& object) {
  struct Name {
    std::string_view operator()(const Namespace&) const { return "Namespace"; }
    std::string_view operator()(const Function&) const { return "function"; }
    std::string_view operator()(const Method&) const { return "builtin_function_or_method"; }
    std::string_view operator()(const Macro&) const { return "Macro"; }
    std::string_view operator()(const Loop&) const { return "LoopContext"; }
    std::string_view operator()(const Cycler&) const { return "Cycler"; }
    std::string_view operator()(const Joiner&) const { return "Joiner"; }
  };
  return std::visit(Name{}, object.data);
}

Value make_function(std::string_view name, FunctionCode code) {
  return std::make_shared<Object>(Object{Function{name, code}});
}

Value make_method(const MethodEntry& entry, const Value& self) {
  return std::make_shared<Object>(Object{Method{&entry, self}, depth_above(self.depth())});
}

}  // namespace lattice::jinja
