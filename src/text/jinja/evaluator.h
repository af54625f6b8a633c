#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/budget.h"
#include "text/jinja/object.h"

namespace lattice::jinja {

/// The variables of a block, inside those of another. Shared with the macros defined in it.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<Symbol, Value>> variables;

  void set(Symbol symbol, Value value);
  const Value* find(Symbol symbol) const;  ///< here, not in the parents
};

/// What a template run by the Evaluator is given.
struct Environment {
  const Program& program;
  const Value& context;  ///< a dict, or anything else for no variables
  const Limits& limits;
  const std::function<std::tm()>& clock;
};

/// Runs a program once.
class Evaluator {
 public:
  explicit Evaluator(const Environment& environment);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator();

  /// The output of the whole program. Errors: EvalError, LatticeError.
  Text run();
  /// The line of the last thing evaluated, for messages.
  std::uint32_t line() const { return line_; }

  // For the builtins.
  Budget& budget() { return budget_; }
  std::tm now() const { return environment_.clock(); }
  /// callee(args).
  Value call(const Value& callee, const CallArgs& args);
  Value call_filter(const Value& name, const Value& input, const CallArgs& args);
  bool call_test(const Value& name, const Value& input, const CallArgs& args);
  /// A new namespace, emptied at the end of the run.
  Value make_namespace(Dict attributes);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  using ScopePtr = std::shared_ptr<Scope>;

  /// A new innermost scope for as long as it lives.
  class ScopeGuard;
  /// Collects output for as long as it lives.
  class Capture;

  /// A scope inside `parent` where the names `unset` are undefined.
  ScopePtr make_scope(const ScopePtr& parent, const Names& unset);
  /// What reading a name gives that nothing defines.
  const Value& undefined_name(Symbol symbol);
  void reset(Scope& scope, const Names& unset);

  // Statements.
  Flow execute(const Block& block);
  Flow run_statement(const Stmt& stmt);
  Flow run_if(const If& node);
  Flow run_for(const ForLoop& node, const Value& iterable, std::int64_t depth0);
  Flow run_iterations(const ForLoop& node, const std::shared_ptr<Object>& object, bool& any);
  Flow run_set_block(const SetBlock& node);
  Flow run_filter_block(const FilterBlock& node);
  Flow run_with(const With& node);
  void run_call_block(const CallBlock& node);
  Value filtered(const ForLoop& node, const Value& iterable);
  void assign(const Target& target, const Value& value);
  void unpack(const Target& target, const Value& value);
  Value make_macro(const std::shared_ptr<MacroBody>& body);
  Value call_macro(const Macro& macro, const CallArgs& args);
  void bind_parameters(const MacroBody& body, const CallArgs& args);
  void bind_extra(const MacroBody& body, const CallArgs& args, std::vector<bool>& used);
  Value call_loop(Loop& loop, const CallArgs& args);

  // Expressions.
  Value evaluate(const Expr& expr);
  Value evaluate_or_none(const ExprPtr& expr);
  Value evaluate_name(Symbol symbol);
  Value evaluate_dict(const DictExpr& node);
  Value evaluate_unary(const Unary& node);
  Value evaluate_concat(const Concat& node);
  Value evaluate_compare(const Compare& node);
  bool compare(Compare::Op op, const Value& a, const Value& b);
  Value evaluate_conditional(const Conditional& node, std::uint32_t line);
  Value evaluate_call(const Call& node, const Value* caller);
  Value evaluate_filter(const FilterExpr& node, const Value* body);
  Value evaluate_or_body(const Expr& expr, const Value* body);
  std::vector<Value> evaluate_all(const std::vector<ExprPtr>& exprs);
  CallArgs evaluate_arguments(const Arguments& arguments);

  Environment environment_;
  Budget budget_;
  TextBuilder* out_ = nullptr;
  ScopePtr scope_;
  std::vector<std::shared_ptr<Object>> namespaces_;
  std::vector<ScopePtr> captured_;                     // by macros, which they hold in turn
  std::vector<std::optional<Value>> undefined_names_;  // made when needed
  std::uint32_t line_ = 0;
};

}  // namespace lattice::jinja
