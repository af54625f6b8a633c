#include "text/jinja/value.h"

#include <algorithm>

#include "base/check.h"
#include "text/jinja/object.h"

namespace lattice::jinja {

Value Value::string(std::string_view text, bool user_input) {
  return Value(Text(text, user_input));
}

Value Value::undefined(std::string message) {
  return Value(Data(Undefined{std::make_shared<const std::string>(std::move(message))}));
}

std::uint32_t depth_above(std::uint32_t depth) {
  if (depth >= kMaxValueDepth) eval_fail("values nest deeper than {}", kMaxValueDepth);
  return depth + 1;
}

std::uint32_t depth_above(const std::vector<Value>& items) {
  std::uint32_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  return depth_above(depth);
}

std::uint64_t add_weights(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

namespace {

std::shared_ptr<Sequence> make_sequence(std::vector<Value> items) {
  auto data = std::make_shared<Sequence>();
  data->depth = depth_above(items);
  for (const Value& item : items) data->weight = add_weights(data->weight, item.weight());
  data->items = std::move(items);
  return data;
}

}  // namespace

Value Value::list(std::vector<Value> items) {
  return Value(Data(List{make_sequence(std::move(items))}));
}

Value Value::tuple(std::vector<Value> items) {
  return Value(Data(Tuple{make_sequence(std::move(items))}));
}

Value Value::group(Value key, Value items) {
  auto data = make_sequence({std::move(key), std::move(items)});
  data->is_group = true;
  return Value(Data(Tuple{std::move(data)}));
}

Value Value::generator(std::function<bool(Value&)> next, std::uint32_t depth) {
  return Value(std::make_shared<Generator>(Generator{std::move(next), depth_above(depth)}));
}

Value Value::from_json(const Json& json, bool user_input) {
  switch (json.kind()) {
    case Json::Kind::kNull:
      return None{};
    case Json::Kind::kBool:
      return *json.as_bool();
    case Json::Kind::kInt:
      return *json.as_int();
    case Json::Kind::kUint: {
      const std::uint64_t number = *json.as_uint();
      if (number > std::uint64_t{INT64_MAX}) {
        raise(ErrorCode::kUnsupported, "[jinja] the integer {} does not fit 64 bits with a sign",
              number);
      }
      return static_cast<std::int64_t>(number);
    }
    case Json::Kind::kDouble:
      return *json.as_double();
    case Json::Kind::kString:
      return string(*json.as_string(), user_input);
    case Json::Kind::kArray: {
      std::vector<Value> items;
      items.reserve(json.items().size());
      for (const Json& item : json.items()) items.push_back(from_json(item, user_input));
      return list(std::move(items));
    }
    case Json::Kind::kObject: {
      auto dict = std::make_shared<Dict>();
      for (const JsonMember& member : json.members()) {
        dict->set(string(member.key, user_input), from_json(member.value, user_input));
      }
      return std::shared_ptr<const Dict>(std::move(dict));
    }
  }
  return {};
}

std::int64_t Value::integer() const {
  if (const bool* flag = std::get_if<bool>(&data_)) return *flag ? 1 : 0;
  return std::get<std::int64_t>(data_);
}

double Value::real() const {
  if (const double* number = std::get_if<double>(&data_)) return *number;
  return static_cast<double>(integer());
}

const Sequence& Value::sequence() const {
  if (const List* list = std::get_if<List>(&data_)) return *list->data;
  return *std::get<Tuple>(data_).data;
}

std::string Value::undefined_message() const {
  const auto& message = std::get<Undefined>(data_).message;
  return message ? *message : "undefined value";
}

std::string_view Value::type_name() const {
  switch (kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return view().part == DictView::Part::kKeys     ? "dict_keys"
             : view().part == DictView::Part::kValues ? "dict_values"
                                                      : "dict_items";
    case Kind::kGenerator:
      return "generator";
    case Kind::kObject:
      return object_type_name(object());
  }
  return "object";
}

std::uint32_t Value::depth() const {
  switch (kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return sequence().depth;
    case Kind::kDict:
      return dict().depth();
    case Kind::kView:
      return view().dict->depth();
    case Kind::kGenerator:
      return generator().depth;
    case Kind::kObject:
      return object().depth;
    default:
      return 0;
  }
}

std::uint64_t Value::weight() const {
  switch (kind()) {
    case Kind::kString:
      return 1 + text().size() / 64;
    case Kind::kList:
    case Kind::kTuple:
      return sequence().weight;
    case Kind::kDict:
      return dict().weight();
    case Kind::kView:
      return view().dict->weight();
    default:
      return 1;
  }
}

bool Value::same_as(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return integer() == other.integer();
    case Kind::kFloat:
      return real() == other.real();
    case Kind::kString:
      return text() == other.text();
    case Kind::kList:
    case Kind::kTuple:
      return &sequence() == &other.sequence();
    case Kind::kDict:
      return &dict() == &other.dict();
    case Kind::kRange:
      return &range() == &other.range();
    case Kind::kView:
      return false;
    case Kind::kGenerator:
      return &generator() == &other.generator();
    case Kind::kObject:
      return &object() == &other.object();
  }
  return false;
}

}  // namespace lattice::jinja
