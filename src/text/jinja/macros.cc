#include <algorithm>

#include "text/jinja/compare.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/evaluator_guards.h"
#include "text/jinja/repr.h"

namespace lattice::jinja {

Value Evaluator::make_macro(const std::shared_ptr<MacroBody>& body) {
  budget_.step(8);  // the scope lives on
  if (captured_.empty() || captured_.back() != scope_) captured_.push_back(scope_);
  return std::make_shared<Object>(Object{Macro{body.get(), scope_}});
}

void Evaluator::run_call_block(const CallBlock& node) {
  const Value caller = make_macro(node.caller);
  line_ = node.call->line;
  append_str(*out_, evaluate_call(std::get<Call>(node.call->node), &caller));
}

Value Evaluator::call_macro(const Macro& macro, const CallArgs& args) {
  const DepthGuard depth(budget_);
  const std::uint32_t line = line_;
  const MacroBody& body = *macro.body;
  Capture capture(*this);
  const ScopeGuard guard(*this, make_scope(macro.scope, body.unset));
  bind_parameters(body, args);
  execute(body.body);
  line_ = line;
  return capture.take();
}

void Evaluator::bind_parameters(const MacroBody& body, const CallArgs& args) {
  std::vector<bool> used(args.named.size());
  if (args.positional.size() > body.parameters.size() && !body.uses_varargs) {
    eval_fail("macro {} takes not more than {} argument(s)", quote(body.name),
              body.parameters.size());
  }
  for (std::size_t i = 0; i < body.parameters.size(); ++i) {
    const Parameter& parameter = body.parameters[i];
    if (i < args.positional.size()) {
      scope_->set(parameter.symbol, args.positional[i]);
      continue;
    }
    const auto named = std::find_if(args.named.begin(), args.named.end(), [&](const auto& entry) {
      return entry.first == parameter.name;
    });
    if (named != args.named.end()) {
      used[static_cast<std::size_t>(named - args.named.begin())] = true;
      scope_->set(parameter.symbol, named->second);
    } else if (!parameter.fallback) {
      scope_->set(parameter.symbol, Value::undefined(fmt::format("parameter {} was not provided",
                                                                 quote(parameter.name))));
    }
  }
  bind_extra(body, args, used);
  // Defaults may use the other parameters.
  for (const Parameter& parameter : body.parameters) {
    if (parameter.fallback && scope_->find(parameter.symbol) == nullptr) {
      scope_->set(parameter.symbol, evaluate(*parameter.fallback));
    }
  }
}

void Evaluator::bind_extra(const MacroBody& body, const CallArgs& args, std::vector<bool>& used) {
  const bool takes_caller = body.uses_caller && scope_->find(kCaller) == nullptr;
  if (takes_caller) scope_->set(kCaller, Value::undefined("No caller defined"));
  Dict rest;
  for (std::size_t i = 0; i < args.named.size(); ++i) {
    if (used[i]) continue;
    const auto& [name, value] = args.named[i];
    if (takes_caller && name == "caller") {
      if (!value.is_none()) scope_->set(kCaller, value);
    } else if (body.uses_kwargs) {
      rest.set(Value::string(name), value);
    } else {
      eval_fail("macro {} takes no keyword argument {}", quote(body.name), quote(name));
    }
  }
  if (body.uses_kwargs) scope_->set(kKwargs, std::make_shared<const Dict>(std::move(rest)));
  if (body.uses_varargs) {
    const std::size_t first = std::min(body.parameters.size(), args.positional.size());
    scope_->set(kVarargs,
                Value::tuple({args.positional.begin() + static_cast<std::ptrdiff_t>(first),
                              args.positional.end()}));
  }
}

Value Evaluator::call_loop(Loop& loop, const CallArgs& args) {
  if (loop.recursive == nullptr) {
    eval_fail("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (args.positional.size() != 1 || !args.named.empty()) {
    eval_fail("loop() takes one argument");
  }
  const DepthGuard depth(budget_);
  const std::uint32_t line = line_;
  Capture capture(*this);
  const ScopeGuard guard(*this, loop.scope);
  run_for(*loop.recursive, args.positional[0], loop.depth0 + 1);
  line_ = line;
  return capture.take();
}

Value Evaluator::call(const Value& callee, const CallArgs& args) {
  budget_.step();
  if (callee.is_undefined()) eval_fail("{}", callee.undefined_message());
  if (!callee.is(Value::Kind::kObject)) {
    eval_fail("'{}' object is not callable", callee.type_name());
  }
  const std::shared_ptr<Object> keep = callee.shared_object();
  Object& object = *keep;
  if (const auto* function = std::get_if<Function>(&object.data)) {
    return function->code(*this, args);
  }
  if (const auto* method = std::get_if<Method>(&object.data)) {
    return method->entry->code(*this, method->self, args);
  }
  if (const auto* macro = std::get_if<Macro>(&object.data)) return call_macro(*macro, args);
  if (auto* loop = std::get_if<Loop>(&object.data)) return call_loop(*loop, args);
  if (auto* joiner = std::get_if<Joiner>(&object.data)) {
    if (!args.positional.empty() || !args.named.empty()) eval_fail("a joiner takes no arguments");
    return std::exchange(joiner->used, true) ? joiner->separator : Text();
  }
  eval_fail("'{}' object is not callable", callee.type_name());
}

}  // namespace lattice::jinja
