#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/iterate.h"
#include "text/jinja/overloaded.h"
#include "text/jinja/repr.h"
#include "text/jinja/subscript.h"

namespace lattice::jinja {
Value Evaluator::evaluate(const Expr& expr) {
  const DepthGuard guard(budget_);
  budget_.step();
  line_ = expr.line;
  return std::visit(
      Overloaded{[&](const Literal& node) { return node.value; },
                 [&](const Name& node) { return evaluate_name(node.symbol); },
                 [&](const TupleExpr& node) { return Value::tuple(evaluate_all(node.items)); },
                 [&](const ListExpr& node) { return Value::list(evaluate_all(node.items)); },
                 [&](const DictExpr& node) { return evaluate_dict(node); },
                 [&](const Unary& node) { return evaluate_unary(node); },
                 [&](const Binary& node) {
                   const Value left = evaluate(*node.left);
                   const Value right = evaluate(*node.right);
                   return binary(node.op, left, right, budget_);
                 },
                 [&](const Concat& node) { return evaluate_concat(node); },
                 [&](const Logical& node) {
                   Value left = evaluate(*node.left);
                   return truthy(left) == node.is_and ? evaluate(*node.right) : left;
                 },
                 [&](const Compare& node) { return evaluate_compare(node); },
                 [&](const Conditional& node) { return evaluate_conditional(node, expr.line); },
                 [&](const Attribute& node) {
                   return get_attribute(evaluate(*node.object), node.name, budget_);
                 },
                 [&](const Item& node) {
                   const Value object = evaluate(*node.object);
                   return get_item(object, evaluate(*node.key), budget_);
                 },
                 [&](const Slice& node) {
                   const Value object = evaluate(*node.object);
                   const Value start = evaluate_or_none(node.start);
                   const Value stop = evaluate_or_none(node.stop);
                   return slice(object, start, stop, evaluate_or_none(node.step), budget_);
                 },
                 [&](const Call& node) { return evaluate_call(node, nullptr); },
                 [&](const FilterExpr& node) { return evaluate_filter(node, nullptr); },
                 [&](const TestExpr& node) {
                   const Value input = evaluate(*node.input);
                   const CallArgs args = evaluate_arguments(node.arguments);
                   if (node.test == nullptr) eval_fail("No test named {}.", quote(node.name));
                   return Value(node.test->code(*this, input, args));
                 }},
      expr.node);
}

Value Evaluator::evaluate_or_none(const ExprPtr& expr) {
  return expr ? evaluate(*expr) : Value(None{});
}

Value Evaluator::evaluate_name(Symbol symbol) {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    if (const Value* value = scope->find(symbol)) return *value;
  }
  const std::string& name = environment_.program.names[symbol];
  if (environment_.context.is_dict()) {
    if (const Value* value = environment_.context.dict().find(name)) return *value;
  }
  if (const Value* function = find_function(name)) return *function;
  return undefined_name(symbol);
}

Value Evaluator::evaluate_dict(const DictExpr& node) {
  auto dict = std::make_shared<Dict>();
  for (const auto& [key_expr, value_expr] : node.entries) {
    const Value key = evaluate(*key_expr);
    const Value value = evaluate(*value_expr);
    if (!is_hashable(key)) eval_fail("unhashable type: '{}'", key.type_name());
    budget_.step(key.weight());
    dict->set(key, value);
  }
  return std::shared_ptr<const Dict>(std::move(dict));
}

Value Evaluator::evaluate_unary(const Unary& node) {
  const Value operand = evaluate(*node.operand);
  if (node.op == Unary::Op::kNot) return !truthy(operand);
  return node.op == Unary::Op::kMinus ? negate(operand) : plus(operand);
}

Value Evaluator::evaluate_concat(const Concat& node) {
  TextBuilder out(budget_);
  for (const ExprPtr& part : node.parts) append_str(out, evaluate(*part));
  return out.take();
}

Value Evaluator::evaluate_compare(const Compare& node) {
  Value left = evaluate(*node.first);
  for (const auto& [op, expr] : node.rest) {
    Value right = evaluate(*expr);
    if (!compare(op, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool Evaluator::compare(Compare::Op op, const Value& a, const Value& b) {
  using Op = Compare::Op;
  if (op != Op::kIn && op != Op::kNotIn) budget_.step(std::min(a.weight(), b.weight()));
  switch (op) {
    case Op::kEq:
      return equal(a, b);
    case Op::kNe:
      return !equal(a, b);
    case Op::kLt:
      return order(a, b, "<") < 0;
    case Op::kLe:
      return order(a, b, "<=") <= 0;
    case Op::kGt:
      return order(a, b, ">") > 0;
    case Op::kGe:
      return order(a, b, ">=") >= 0;
    case Op::kIn:
      return contains(b, a, budget_);
    case Op::kNotIn:
      return !contains(b, a, budget_);
  }
  return false;
}

Value Evaluator::evaluate_conditional(const Conditional& node, std::uint32_t line) {
  if (truthy(evaluate(*node.test))) return evaluate(*node.then);
  if (node.otherwise) return evaluate(*node.otherwise);
  return Value::undefined(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was "
                  "defined.",
                  line));
}

Value Evaluator::evaluate_call(const Call& node, const Value* caller) {
  const std::uint32_t line = line_;
  const Value callee = evaluate(*node.callee);
  CallArgs args = evaluate_arguments(node.arguments);
  if (caller != nullptr) args.named.emplace_back("caller", *caller);
  line_ = line;
  return call(callee, args);
}

Value Evaluator::evaluate_filter(const FilterExpr& node, const Value* body) {
  const std::uint32_t line = line_;
  const Value input = node.input ? evaluate_or_body(*node.input, body) : *body;
  const CallArgs args = evaluate_arguments(node.arguments);
  if (node.filter == nullptr) eval_fail("No filter named {}.", quote(node.name));
  line_ = line;
  return node.filter->code(*this, input, args);
}

Value Evaluator::evaluate_or_body(const Expr& expr, const Value* body) {
  if (body == nullptr) return evaluate(expr);
  // The filters of a block are a chain down to its body.
  const DepthGuard guard(budget_);
  return evaluate_filter(std::get<FilterExpr>(expr.node), body);
}

std::vector<Value> Evaluator::evaluate_all(const std::vector<ExprPtr>& exprs) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) values.push_back(evaluate(*expr));
  return values;
}

CallArgs Evaluator::evaluate_arguments(const Arguments& arguments) {
  CallArgs args;
  args.positional = evaluate_all(arguments.positional);
  for (const auto& [name, expr] : arguments.named) args.named.emplace_back(name, evaluate(*expr));
  if (arguments.spread) {
    const auto more = to_items(evaluate(*arguments.spread), budget_);
    args.positional.insert(args.positional.end(), more.begin(), more.end());
  }
  if (arguments.named_spread) {
    const Value more = evaluate(*arguments.named_spread);
    if (!more.is_dict()) eval_fail("argument after ** must be a mapping, not {}", more.type_name());
    budget_.step(more.dict().size());
    for (const auto& [key, value] : more.dict().entries()) {
      if (!key.is_string()) eval_fail("keywords must be strings");
      const std::string name(key.text().bytes());
      const bool repeated = std::any_of(args.named.begin(), args.named.end(),
                                        [&](const auto& entry) { return entry.first == name; });
      if (repeated) eval_fail("got multiple values for keyword argument {}", quote(name));
      args.named.emplace_back(name, value);
    }
  }
  return args;
}

Value Evaluator::call_filter(const Value& name, const Value& input, const CallArgs& args) {
  const FilterEntry* filter = name.is_string() ? find_filter(name.text().bytes()) : nullptr;
  if (filter == nullptr) {
    eval_fail("No filter named {}.", quote(to_text(name, budget_).bytes()));
  }
  budget_.step();
  return filter->code(*this, input, args);
}

bool Evaluator::call_test(const Value& name, const Value& input, const CallArgs& args) {
  const TestEntry* test = name.is_string() ? find_test(name.text().bytes()) : nullptr;
  if (test == nullptr) eval_fail("No test named {}.", quote(to_text(name, budget_).bytes()));
  budget_.step();
  return test->code(*this, input, args);
}

}  // namespace lattice::jinja
