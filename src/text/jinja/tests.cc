#include <cmath>

#include "text/jinja/arguments.h"
#include "text/jinja/characters.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_case.h"

namespace lattice::jinja {
namespace {

using Kind = Value::Kind;

template <bool (*kTest)(const Value&)>
bool plain(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("test", args, {});
  return kTest(input);
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_boolean(const Value& value) { return value.is(Kind::kBool); }
bool is_true(const Value& value) { return value.is(Kind::kBool) && value.boolean(); }
bool is_false(const Value& value) { return value.is(Kind::kBool) && !value.boolean(); }
bool is_integer(const Value& value) { return value.is(Kind::kInt); }
bool is_float(const Value& value) { return value.is(Kind::kFloat); }
bool is_number(const Value& value) { return value.is_number(); }
bool is_string(const Value& value) { return value.is_string(); }
bool is_mapping(const Value& value) { return value.is_dict(); }
bool never(const Value&) { return false; }
bool can_iterate(const Value& value) {
  return is_iterable(value) ||
         (value.is(Kind::kObject) && std::holds_alternative<Loop>(value.object().data));
}
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is_sequence() || value.is_dict() ||
         value.is(Kind::kRange);
}
bool is_callable(const Value& value) {
  if (value.is_undefined()) return true;
  if (!value.is(Kind::kObject)) return false;
  const auto& data = value.object().data;
  return !std::holds_alternative<Namespace>(data) && !std::holds_alternative<Cycler>(data);
}

template <bool (*kTest)(const Text&)>
bool text_test(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("test", args, {});
  return kTest(to_text(input, evaluator.budget()));
}

bool divisible(const Value& input, const Value& divisor, std::int64_t rest, Budget& budget) {
  return equal(binary(BinaryOp::kModulo, input, divisor, budget), Value(rest));
}

template <std::int64_t kRest>
bool parity(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("test", args, {});
  return divisible(input, Value(std::int64_t{2}), kRest, evaluator.budget());
}

bool divisibleby(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("divisibleby", args, {"num"}, 1);
  return divisible(input, bound.at(0), 0, evaluator.budget());
}

bool sameas(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("sameas", args, {"other"}, 1);
  return input.same_as(bound.at(0));
}

bool in(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("in", args, {"seq"}, 1);
  return contains(bound.at(0), input, evaluator.budget());
}

bool filter(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("filter", args, {});
  if (!is_hashable(input)) eval_fail("unhashable type: '{}'", input.type_name());
  return input.is_string() && find_filter(input.text().bytes()) != nullptr;
}

bool test(Evaluator&, const Value& input, const CallArgs& args) {
  const Bound bound("test", args, {});
  if (!is_hashable(input)) eval_fail("unhashable type: '{}'", input.type_name());
  return input.is_string() && find_test(input.text().bytes()) != nullptr;
}

enum class Op { kEq, kNe, kLt, kLe, kGt, kGe };

template <Op kOp>
bool comparison(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("comparison", args, {"other"}, 1);
  const Value& other = bound.at(0);
  evaluator.budget().step(std::min(input.weight(), other.weight()));
  switch (kOp) {
    case Op::kEq:
      return equal(input, other);
    case Op::kNe:
      return !equal(input, other);
    case Op::kLt:
      return order(input, other, "<") < 0;
    case Op::kLe:
      return order(input, other, "<=") <= 0;
    case Op::kGt:
      return order(input, other, ">") > 0;
    case Op::kGe:
      return order(input, other, ">=") >= 0;
  }
}

constexpr TestEntry kTests[] = {
    {"!=", comparison<Op::kNe>},
    {"<", comparison<Op::kLt>},
    {"<=", comparison<Op::kLe>},
    {"==", comparison<Op::kEq>},
    {">", comparison<Op::kGt>},
    {">=", comparison<Op::kGe>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", divisibleby},
    {"eq", comparison<Op::kEq>},
    {"equalto", comparison<Op::kEq>},
    {"escaped", plain<never>},
    {"even", parity<0>},
    {"false", plain<is_false>},
    {"filter", filter},
    {"float", plain<is_float>},
    {"ge", comparison<Op::kGe>},
    {"greaterthan", comparison<Op::kGt>},
    {"gt", comparison<Op::kGt>},
    {"in", in},
    {"integer", plain<is_integer>},
    {"iterable", plain<can_iterate>},
    {"le", comparison<Op::kLe>},
    {"lessthan", comparison<Op::kLt>},
    {"lower", text_test<is_lower_text>},
    {"lt", comparison<Op::kLt>},
    {"mapping", plain<is_mapping>},
    {"ne", comparison<Op::kNe>},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", parity<1>},
    {"sameas", sameas},
    {"sequence", plain<is_sequence>},
    {"string", plain<is_string>},
    {"test", test},
    {"true", plain<is_true>},
    {"undefined", plain<is_undefined>},
    {"upper", text_test<is_upper_text>},
};

}  // namespace

const TestEntry* find_test(std::string_view name) {
  for (const TestEntry& entry : kTests) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace lattice::jinja
