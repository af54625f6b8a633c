#include "text/jinja/evaluator.h"

#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/evaluator_guards.h"
#include "text/jinja/iterate.h"
#include "text/jinja/repr.h"

namespace lattice::jinja {

void Scope::set(Symbol symbol, Value value) {
  for (auto& [name, old] : variables) {
    if (name == symbol) {
      old = std::move(value);
      return;
    }
  }
  variables.emplace_back(symbol, std::move(value));
}

const Value* Scope::find(Symbol symbol) const {
  for (const auto& [name, value] : variables) {
    if (name == symbol) return &value;
  }
  return nullptr;
}

Evaluator::Evaluator(const Environment& environment)
    : environment_(environment),
      budget_(environment.limits),
      scope_(std::make_shared<Scope>()),
      undefined_names_(environment.program.names.size()) {}

Evaluator::~Evaluator() {
  // Macros and namespaces may hold each other in circles, and in chains too long to free by
  // recursion.
  captured_.push_back(scope_);
  for (const ScopePtr& scope : captured_) scope->variables.clear();
  for (const auto& object : namespaces_) std::get<Namespace>(object->data).attributes = Dict();
}

Text Evaluator::run() {
  reset(*scope_, environment_.program.unset);
  TextBuilder out(budget_);
  out_ = &out;
  execute(environment_.program.body);
  return out.take();
}

const Value& Evaluator::undefined_name(Symbol symbol) {
  std::optional<Value>& value = undefined_names_[symbol];
  if (!value) {
    const std::string& name = environment_.program.names[symbol];
    value = Value::undefined(fmt::format("{} is undefined", quote(name)));
  }
  return *value;
}

void Evaluator::reset(Scope& scope, const Names& unset) {
  scope.variables.clear();
  for (const Symbol symbol : unset) scope.variables.emplace_back(symbol, undefined_name(symbol));
}

Evaluator::ScopePtr Evaluator::make_scope(const ScopePtr& parent, const Names& unset) {
  auto scope = std::make_shared<Scope>(Scope{parent, {}});
  reset(*scope, unset);
  return scope;
}

Evaluator::Flow Evaluator::execute(const Block& block) {
  const DepthGuard guard(budget_);
  for (const Stmt& stmt : block) {
    budget_.step();
    line_ = stmt.line;
    const Flow flow = run_statement(stmt);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_statement(const Stmt& stmt) {
  struct Run {
    Evaluator& self;
    Flow operator()(const OutputText& node) const {
      self.out_->append(node.text);
      return Flow::kNext;
    }
    Flow operator()(const OutputExpr& node) const {
      append_str(*self.out_, self.evaluate(*node.value));
      return Flow::kNext;
    }
    Flow operator()(const If& node) const { return self.run_if(node); }
    Flow operator()(const ForLoop& node) const {
      return self.run_for(node, self.evaluate(*node.iterable), 0);
    }
    Flow operator()(const Set& node) const {
      self.assign(node.target, self.evaluate(*node.value));
      return Flow::kNext;
    }
    Flow operator()(const SetBlock& node) const { return self.run_set_block(node); }
    Flow operator()(const MacroDefinition& node) const {
      self.scope_->set(node.symbol, self.make_macro(node.macro));
      return Flow::kNext;
    }
    Flow operator()(const CallBlock& node) const {
      self.run_call_block(node);
      return Flow::kNext;
    }
    Flow operator()(const FilterBlock& node) const { return self.run_filter_block(node); }
    Flow operator()(const With& node) const { return self.run_with(node); }
    Flow operator()(const Break&) const { return Flow::kBreak; }
    Flow operator()(const Continue&) const { return Flow::kContinue; }
  };
  return std::visit(Run{*this}, stmt.node);
}

Evaluator::Flow Evaluator::run_if(const If& node) {
  for (const auto& [test, body] : node.branches) {
    if (truthy(evaluate(*test))) return execute(body);
  }
  return execute(node.otherwise);
}

Value Evaluator::filtered(const ForLoop& node, const Value& iterable) {
  auto next = [this, &node, cursor = Cursor(iterable), outer = scope_](Value& item) mutable {
    while (cursor.next(item)) {
      budget_.step();
      const ScopeGuard guard(*this, std::make_shared<Scope>(Scope{outer, {}}));
      assign(node.target, item);
      if (truthy(evaluate(*node.condition))) return true;
    }
    return false;
  };
  return Value::generator(std::move(next), iterable.depth());
}

Evaluator::Flow Evaluator::run_for(const ForLoop& node, const Value& iterable,
                                   std::int64_t depth0) {
  const DepthGuard depth(budget_);
  const Value items = node.condition ? filtered(node, iterable) : iterable;
  auto object = std::make_shared<Object>(Object{Loop{}});
  Loop& loop = std::get<Loop>(object->data);
  loop.cursor = Cursor(items);
  loop.known_size = size_of(items);
  loop.depth0 = depth0;
  loop.recursive = node.recursive ? &node : nullptr;
  loop.scope = scope_;
  // What the loop holds goes with it, also where a namespace keeps the variable.
  struct Clear {
    Loop& loop;
    ~Clear() {
      const std::int64_t index0 = loop.index0;
      loop = Loop{};
      loop.index0 = index0;
      loop.known_size = static_cast<std::size_t>(index0 + 1);
    }
  };
  const std::shared_ptr<Object> keep = object;
  const Clear clear{loop};
  bool any = false;
  const Flow flow = run_iterations(node, object, any);
  if (!any && flow == Flow::kNext) {
    const ScopeGuard guard(*this, make_scope(scope_, node.otherwise_unset));
    return execute(node.otherwise);
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_iterations(const ForLoop& node,
                                          const std::shared_ptr<Object>& object, bool& any) {
  Loop& loop = std::get<Loop>(object->data);
  const ScopePtr outer = scope_;
  ScopePtr scope;
  Value item;
  while (loop.next(item)) {
    any = true;
    budget_.step();
    if (!scope || scope.use_count() > 1) {
      scope = make_scope(outer, node.unset);
    } else {
      reset(*scope, node.unset);
    }
    const ScopeGuard guard(*this, scope);
    scope->set(kLoop, object);
    assign(node.target, item);
    if (execute(node.body) == Flow::kBreak) break;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_set_block(const SetBlock& node) {
  Capture capture(*this);
  {
    const ScopeGuard guard(*this, make_scope(scope_, node.unset));
    const Flow flow = execute(node.body);
    if (flow != Flow::kNext) return flow;
  }
  Value value = capture.take();
  if (node.filter) value = evaluate_filter(std::get<FilterExpr>(node.filter->node), &value);
  assign(node.target, value);
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_filter_block(const FilterBlock& node) {
  Value value;
  {
    Capture capture(*this);
    const ScopeGuard guard(*this, make_scope(scope_, node.unset));
    const Flow flow = execute(node.body);
    if (flow != Flow::kNext) return flow;
    value = capture.take();
  }
  append_str(*out_, evaluate_filter(std::get<FilterExpr>(node.filter->node), &value));
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_with(const With& node) {
  auto scope = make_scope(scope_, node.unset);
  std::vector<Value> values;
  for (const auto& [target, expr] : node.assignments) values.push_back(evaluate(*expr));
  const ScopeGuard guard(*this, scope);
  for (std::size_t i = 0; i < values.size(); ++i) assign(node.assignments[i].first, values[i]);
  return execute(node.body);
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (target.is_tuple) return unpack(target, value);
  if (target.attribute.empty()) return scope_->set(target.symbol, value);
  const Value holder = evaluate_name(target.symbol);
  Namespace* space =
      holder.is(Value::Kind::kObject) ? std::get_if<Namespace>(&holder.object().data) : nullptr;
  if (space == nullptr) eval_fail("cannot assign attribute on non-namespace object");
  if (target.attribute.starts_with('_')) {
    eval_fail("a namespace cannot have the attribute {}", quote(target.attribute));
  }
  space->attributes.set(Value::string(target.attribute), value);
}

void Evaluator::unpack(const Target& target, const Value& value) {
  if (!is_iterable(value)) eval_fail("cannot unpack non-iterable {} object", value.type_name());
  Cursor cursor(value);
  std::vector<Value> items;
  Value item;
  while (items.size() <= target.items.size() && cursor.next(item)) items.push_back(item);
  if (items.size() > target.items.size()) {
    eval_fail("too many values to unpack (expected {})", target.items.size());
  }
  if (items.size() < target.items.size()) {
    eval_fail("not enough values to unpack (expected {}, got {})", target.items.size(),
              items.size());
  }
  for (std::size_t i = 0; i < items.size(); ++i) assign(target.items[i], items[i]);
}

Value Evaluator::make_namespace(Dict attributes) {
  auto object = std::make_shared<Object>(Object{Namespace{std::move(attributes)}});
  namespaces_.push_back(object);
  return object;
}

}  // namespace lattice::jinja
