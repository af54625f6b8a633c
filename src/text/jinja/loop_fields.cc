#include "text/jinja/loop_fields.h"

#include "text/jinja/ast.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"

namespace lattice::jinja {
namespace {

Value cycle(Evaluator&, const Value& self, const CallArgs& args) {
  if (args.positional.empty()) eval_fail("no items for cycling given");
  const auto index = static_cast<std::size_t>(std::get<Loop>(self.object().data).index0);
  return args.positional[index % args.positional.size()];
}

Value changed(Evaluator& evaluator, const Value& self, const CallArgs& args) {
  Loop& loop = std::get<Loop>(self.object().data);
  Value values = Value::tuple(args.positional);
  evaluator.budget().step(values.weight());
  if (loop.last_changed && equal(*loop.last_changed, values)) return false;
  loop.last_changed = std::move(values);
  return true;
}

constexpr MethodEntry kCycle = {"cycle", cycle};
constexpr MethodEntry kChanged = {"changed", changed};

}  // namespace

std::optional<Value> loop_field(const Value& value, std::string_view name) {
  Loop& loop = std::get<Loop>(value.object().data);
  if (name == "index0") return loop.index0;
  if (name == "index") return loop.index0 + 1;
  if (name == "first") return loop.index0 == 0;
  if (name == "last") return !loop.peek();
  if (name == "length") return loop.length();
  if (name == "revindex0") return loop.length() - loop.index0 - 1;
  if (name == "revindex") return loop.length() - loop.index0;
  if (name == "depth0") return loop.depth0;
  if (name == "depth") return loop.depth0 + 1;
  if (name == "previtem") {
    return loop.before ? *loop.before : Value::undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return loop.peek() ? *loop.after : Value::undefined("there is no next item");
  }
  if (name == "cycle") return make_method(kCycle, value);
  if (name == "changed") return make_method(kChanged, value);
  return std::nullopt;
}

std::optional<Value> macro_field(const Macro& macro, std::string_view name) {
  if (name == "name") return Value::string(macro.body->name);
  if (name == "catch_kwargs") return macro.body->uses_kwargs;
  if (name == "catch_varargs") return macro.body->uses_varargs;
  if (name == "caller") return macro.body->uses_caller;
  if (name != "arguments") return std::nullopt;
  std::vector<Value> names;
  for (const Parameter& parameter : macro.body->parameters) {
    names.push_back(Value::string(parameter.name));
  }
  return Value::tuple(std::move(names));
}

}  // namespace lattice::jinja
